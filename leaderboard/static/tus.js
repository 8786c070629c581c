// A client of resumable uploads: tus 1.0 with creation, checksum and termination. It knows no page. What it is told to send it
// sends until everything is there, through broken lines and servers that are away for a while; what waiting cannot mend is thrown.
import { BLOCK, checksum } from "./digest.js";

const LEAST = 256 * 2 ** 10;
const TRIES = 12; // without a single part getting through: some four minutes
const FIRST_PAUSE = 500;
const LONGEST_PAUSE = 30000;
const SILENCE = 90000; // a line on which nothing moves for so long is dead, whatever the browser believes
const PASSING = new Set([0, 408, 423, 500, 502, 503, 504]);

// An answer that was not what was hoped for; status 0 where none came.
class Answer extends Error {
  constructor(status, words = "", pause = 0) {
    super(words || `status ${status}`);
    this.status = status;
    this.words = words;
    this.pause = pause;
  }
}

// What sending again does not mend; `words` are for people.
export class Refused extends Error {
  constructor(status, words) {
    super(words);
    this.status = status;
    this.words = words;
  }
}

function abortion() {
  return new DOMException("stopped", "AbortError");
}

// XMLHttpRequest, since fetch tells nothing about what has been sent.
function exchange(method, address, { token, signal, headers = {}, body = null, progress } = {}) {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(abortion());
    const request = new XMLHttpRequest();
    let watch = 0;
    const stop = () => request.abort();
    const moved = () => {
      clearTimeout(watch);
      watch = setTimeout(() => request.abort(), SILENCE);
    };
    const end = (settle, value) => {
      clearTimeout(watch);
      signal?.removeEventListener("abort", stop);
      settle(value);
    };
    request.open(method, address);
    request.setRequestHeader("Tus-Resumable", "1.0.0");
    if (token) request.setRequestHeader("X-CSRFToken", token);
    for (const [name, value] of Object.entries(headers)) if (value) request.setRequestHeader(name, value);
    request.onload = () => end(...verdict(request, resolve, reject));
    request.onerror = () => end(reject, new Answer(0));
    request.onabort = () => end(reject, signal?.aborted ? abortion() : new Answer(0));
    request.upload.onprogress = (event) => {
      moved();
      progress?.(event.loaded);
    };
    signal?.addEventListener("abort", stop);
    moved();
    request.send(body);
  });
}

function verdict(request, resolve, reject) {
  if (request.status >= 200 && request.status < 300) return [resolve, request];
  return [reject, new Answer(request.status, said(request.responseText), 1000 * Number(request.getResponseHeader("Retry-After")) || 0)];
}

// What the server says to people: JSON with a detail, or plain text.
function said(body) {
  try {
    const answer = JSON.parse(body);
    return typeof answer.detail === "string" ? answer.detail : "";
  } catch {
    return /^\s*</.test(body) ? "" : body.trim().slice(0, 300);
  }
}

function encoded(text) {
  return btoa(String.fromCharCode(...new TextEncoder().encode(text)));
}

function whole(request, name) {
  const value = request.getResponseHeader(name);
  if (!/^\d+$/.test(value ?? "")) throw new Answer(0);
  return Number(value);
}

async function create(file, { endpoint, digest, token, signal }) {
  const metadata = [`filename ${encoded(file.name)}`, ...(digest ? [`digest ${encoded(digest)}`] : [])].join(",");
  const headers = { "Upload-Length": String(file.size), "Upload-Metadata": metadata };
  const request = await exchange("POST", endpoint, { token, signal, headers });
  return new URL(request.getResponseHeader("Location"), new URL(endpoint, location.href)).pathname;
}

// How far an upload is, and what it is: {offset, size, name}. Throws where it is unknown.
export async function look(address, { token, signal } = {}) {
  const request = await exchange("HEAD", address, { token, signal });
  const name = /(?:^|,)\s*filename ([^,\s]+)/.exec(request.getResponseHeader("Upload-Metadata") ?? "")?.[1] ?? "";
  return { offset: whole(request, "Upload-Offset"), size: whole(request, "Upload-Length"), name: decoded(name) };
}

function decoded(text) {
  try {
    return new TextDecoder().decode(Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0)));
  } catch {
    return "";
  }
}

async function part(file, offset, most, { address, token, signal, progress }) {
  const end = Math.min(file.size, offset + most, (Math.floor(offset / BLOCK) + 1) * BLOCK); // one block of the digest at most
  const body = file.slice(offset, end);
  const headers = {
    "Content-Type": "application/offset+octet-stream",
    "Upload-Offset": String(offset),
    "Upload-Checksum": await checksum(body),
  };
  const sent = (bytes) => progress(Math.min(offset + bytes, end));
  return whole(await exchange("PATCH", address, { token, signal, headers, body, progress: sent }), "Upload-Offset");
}

// Longer after each failure. A server that says when is believed; but what another request holds (423), most often one whose line
// just broke, is let go before the server must, so it is asked sooner.
function pauseAfter(fault, failures) {
  if (!waits(fault)) return FIRST_PAUSE;
  const own = Math.min(FIRST_PAUSE * 2 ** (failures - 1), LONGEST_PAUSE);
  if (!fault.pause) return own;
  return fault.status === 423 ? Math.min(own, fault.pause) : Math.max(own, fault.pause);
}

function sleep(milliseconds, signal) {
  return new Promise((resolve, reject) => {
    const stop = () => finish(reject, abortion());
    const wake = () => finish(resolve);
    const timer = setTimeout(wake, milliseconds);
    function finish(settle, value) {
      clearTimeout(timer);
      signal?.removeEventListener("abort", stop);
      removeEventListener("online", wake);
      settle(value);
    }
    signal?.addEventListener("abort", stop);
    addEventListener("online", wake);
  });
}

// Whether waiting may mend it. "Too many" passes only where the server says when; "no space left" does not.
function waits(answer) {
  return answer instanceof Answer && (PASSING.has(answer.status) || (answer.status === 429 && answer.pause > 0));
}

// What went wrong as a Refused, where it is anything that a person can act on.
export function refusal(fault) {
  if (fault.name === "NotReadableError" || fault.name === "NotFoundError") {
    return new Refused(0, "The file cannot be read any more. It may have changed since you chose it: choose it again.");
  }
  if (!(fault instanceof Answer)) return fault;
  if (fault.status === 401) return new Refused(401, "You are signed out. Sign in again in another tab, then go on here.");
  if (fault.status === 460) return new Refused(460, "Parts arrive changed, again and again. Try another network, then go on here.");
  if (waits(fault)) return new Refused(fault.status, fault.words || "The server cannot be reached. What is there stays there: go on when you are online.");
  return new Refused(fault.status, fault.words || `The server refused the file (status ${fault.status}).`);
}

/**
 * Sends a file and returns the address of its upload once all of it is there.
 *
 * to: endpoint, address (of an upload begun before, or ""), digest (or ""), token (Django's, against forged requests), signal;
 * began(address), progress(bytes that are there), waiting(milliseconds until the next try).
 * Throws Refused, and an AbortError after the signal: then a later call with the address goes on.
 */
export async function send(file, to) {
  let { address = "" } = to;
  let offset = null;
  let reached = 0;
  let failures = 0;
  let begunAnew = false;
  let most = BLOCK;
  const common = { token: to.token, signal: to.signal };
  for (;;) {
    try {
      if (!address) {
        address = await create(file, to);
        offset = 0;
        to.began?.(address);
      }
      offset ??= (await look(address, common)).offset;
      if (offset > reached) failures = 0; // by us, or by another window with the same file
      reached = offset;
      to.progress?.(offset);
      if (offset === file.size) return address;
      offset = await part(file, offset, most, { ...common, address, progress: (bytes) => to.progress?.(bytes) });
      most = Math.min(2 * most, BLOCK);
    } catch (fault) {
      failures += 1;
      const lost = address && (fault.status === 404 || fault.status === 410);
      const again = fault.status === 460 || fault.status === 409 || waits(fault) || (lost && !begunAnew);
      if (fault.name === "AbortError" || !again || failures > TRIES) throw fault.name === "AbortError" ? fault : refusal(fault);
      if (lost) {
        begunAnew = true;
        address = "";
      }
      offset = null;
      if (fault.status === 0) most = Math.max(most / 2, LEAST); // a line that breaks often lets smaller parts through
      const pause = pauseAfter(fault, failures);
      to.waiting?.(pause);
      await sleep(pause, to.signal);
    }
  }
}

// Uploads of ours with a digest: [{id, url, name, size, offset, digest}]; none where the server does not answer.
export async function find(endpoint, digest, { signal } = {}) {
  try {
    const request = await exchange("GET", `${endpoint}?digest=${digest}`, { signal });
    const answer = JSON.parse(request.responseText);
    return Array.isArray(answer) ? answer : answer.results;
  } catch (fault) {
    if (fault.name === "AbortError") throw fault;
    return [];
  }
}

// Lets the server forget an upload. It may still be busy with a part that was just called off. What cannot be said expires by itself.
export async function forget(address, { token } = {}) {
  for (let tries = 0; tries < 5; tries += 1) {
    try {
      return await exchange("DELETE", address, { token });
    } catch (fault) {
      if (!waits(fault)) return null;
      await sleep(fault.pause || 2 * FIRST_PAUSE);
    }
  }
  return null;
}

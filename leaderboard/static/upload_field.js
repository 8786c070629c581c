// One file field: recognises what is chosen, sends it, and tells how far it is.
import { canDigest, digestOf } from "./digest.js";
import { find, forget, look, refusal, Refused, send } from "./tus.js";
import * as memory from "./upload_memory.js";
import { ProgressView } from "./upload_progress.js";
import { megabytes, percent, portion, Speed } from "./upload_words.js";

const SHOWN_EVERY = 500; // milliseconds
const PENDING = new Set(["reading", "waiting", "sending", "retrying", "paused"]);
const OFFERS = {
  reading: ["Pause", "Remove"],
  waiting: ["Pause", "Remove"],
  sending: ["Pause", "Remove"],
  retrying: ["Pause", "Remove"],
  paused: ["Resume", "Remove"],
  failed: ["Resume", "Remove"],
  refused: ["Remove"],
  remembered: ["Remove"],
  before: ["Remove"],
  whole: ["Remove"],
};
let last = Promise.resolve();

// One file after the other: together they would share the line and none would be early. Returns what ends the turn.
function turn() {
  let end;
  const before = last;
  last = new Promise((resolve) => (end = resolve));
  return before.then(() => end);
}

// The match with the closest common ancestor: a form may hold a field of the same name for each kind of file.
function near(input, selector) {
  for (let around = input.parentElement; around; around = around.parentElement) {
    const found = around.querySelector(selector);
    if (found || around === input.form) return found;
  }
  return null;
}

const hiddenOf = (input) => near(input, `input[name="${CSS.escape(input.name)}_upload"]`);
const holderOf = (input) => near(input, `[data-progress-for="${CSS.escape(input.name)}"]`);
const pathOf = (address) => new URL(address, location.href).pathname;
const idOf = (address) => address.split("/").filter(Boolean).at(-1);

export class FileField {
  // page: {form, endpoint, most, token(), inUse(address, field), changed()}
  constructor(page, input) {
    this.page = page;
    this.input = input;
    this.name = input.name;
    this.hidden = hiddenOf(input);
    this.known = near(input, `select[name="${CSS.escape(input.name)}_digest"]`);
    const actions = { Pause: () => this.pause(), Resume: () => this.run(), Remove: () => this.remove() };
    this.view = new ProgressView(holderOf(input), actions);
    const brought = this.hidden.value;
    this.reset();
    this.hidden.value = brought;
    this.known?.addEventListener("change", () => this.knownChanged());
  }

  // Without a place for the result the form sends the file itself.
  static fits(input) {
    return Boolean(hiddenOf(input) && holderOf(input));
  }

  reset() {
    this.control?.abort();
    this.control = null;
    Object.assign(this, { kind: "", declined: false, file: null, title: "", size: 0, bytes: 0, digest: "", address: "", shown: 0 });
    this.hidden.value = "";
  }

  get pending() {
    return PENDING.has(this.kind) && !this.input.matches(":disabled");
  }

  get moving() {
    return this.pending && this.kind !== "paused";
  }

  // Whether the bytes are on the server, so that the form need not carry them.
  get here() {
    return this.kind === "whole" || this.kind === "before";
  }

  show(kind, words, bar = null) {
    this.kind = kind;
    this.shown = performance.now();
    this.view.show({ kind, name: this.title, words, bar, offers: OFFERS[kind] });
    this.page.changed();
  }

  // A file was chosen: whatever was under way before it in this field is called off.
  async take(file, { declined = false } = {}) {
    this.clear();
    Object.assign(this, { declined, file, title: file.name, size: file.size });
    if (file.size > this.page.most) {
      this.show("refused", `This file has ${megabytes(file.size)}; at most ${megabytes(this.page.most)} are taken.`);
      return;
    }
    await this.run();
  }

  async run() {
    const control = new AbortController();
    this.control = control;
    this.show("waiting", "Begins in a moment.", [this.bytes, this.size]);
    try {
      if (!this.address) await this.recognise(control.signal);
      if (!this.here) await this.sendInTurn(control.signal);
    } catch (fault) {
      if (control.signal.aborted) return; // whoever called it off says so
      const told = refusal(fault);
      if (!(told instanceof Refused)) throw told;
      this.show("failed", told.words, [this.bytes, this.size]);
    }
  }

  // Are these bytes here, all or some of them? The digest tells, on any computer; without it this browser's memory does.
  async recognise(signal) {
    if (!canDigest()) {
      this.address = memory.ofFile(this.file);
      return;
    }
    const progress = (bytes) => this.reading(bytes);
    progress(0);
    this.digest = await digestOf(this.file, { signal, progress });
    if (!this.declined && this.chooseKnown()) return;
    const found = await find(this.page.endpoint, this.digest, { signal });
    signal.throwIfAborted();
    const free = found.filter((upload) => !this.page.inUse(pathOf(upload.url), this));
    const best = free.sort((one, other) => other.offset - one.offset)[0];
    if (!best) return;
    this.began(pathOf(best.url));
    this.bytes = best.offset;
    if (best.offset === this.size) this.finish("is here already");
  }

  reading(bytes) {
    if (this.kind === "reading" && performance.now() - this.shown < SHOWN_EVERY && bytes < this.size) return;
    this.show("reading", `Reading the file: ${percent(bytes, this.size)} %`, [bytes, this.size]);
  }

  chooseKnown() {
    const option = [...(this.known?.options ?? [])].find((one) => one.dataset.digest === this.digest);
    if (!option) return false;
    this.known.value = option.value;
    this.show("before", `Your team sent this file before (${megabytes(this.size)}). Nothing needs to be sent.`);
    return true;
  }

  // Another one of those sent before was chosen: then this file is not meant. None was: then it is, after all.
  knownChanged() {
    if (this.kind !== "before" || this.known.selectedOptions[0]?.dataset.digest === this.digest) return;
    const { file } = this;
    this.kind = "";
    if (!this.known.value) {
      this.take(file, { declined: true });
      return;
    }
    this.clear();
    this.input.value = "";
  }

  async sendInTurn(signal) {
    this.show("waiting", "Waits until the file before it is here.", [this.bytes, this.size]);
    const end = await turn();
    try {
      signal.throwIfAborted();
      this.speed = new Speed();
      this.sending(this.bytes);
      await send(this.file, {
        endpoint: this.page.endpoint,
        address: this.address,
        digest: this.digest,
        token: this.page.token(),
        signal,
        began: (address) => this.began(address),
        progress: (bytes) => this.sending(bytes),
        waiting: (milliseconds) => this.retrying(milliseconds),
      });
      this.finish("is here");
    } finally {
      end();
    }
  }

  began(address) {
    if (this.address) memory.forgetful(this.address);
    this.address = address;
    const { name, size, lastModified } = this.file;
    memory.remember({ page: location.pathname, field: this.name, name, size, lastModified, digest: this.digest, address });
  }

  sending(bytes) {
    this.bytes = bytes;
    this.speed.add(bytes);
    if (this.kind === "sending" && performance.now() - this.shown < SHOWN_EVERY) return;
    this.show("sending", portion(bytes, this.size) + this.speed.words(this.size), [bytes, this.size]);
  }

  retrying(milliseconds) {
    const seconds = Math.max(1, Math.round(milliseconds / 1000));
    this.show("retrying", `The connection broke. The next try is in ${seconds} s; what is here stays here.`, [this.bytes, this.size]);
  }

  pause() {
    this.control?.abort();
    this.show("paused", `Paused at ${portion(this.bytes, this.size)}.`, [this.bytes, this.size]);
  }

  finish(words) {
    this.bytes = this.size;
    this.hidden.value = idOf(this.address);
    this.show("whole", `All of it ${words}: ${megabytes(this.size)}.`, [this.size, this.size]);
  }

  abandon() {
    this.control?.abort();
    memory.forgetful(this.address);
    forget(this.address, { token: this.page.token() });
  }

  // Whatever was sent or chosen before does not count any more.
  clear() {
    if (this.address && PENDING.has(this.kind)) this.abandon();
    if (this.kind === "before") this.known.value = "";
    this.reset();
    this.view.hide();
  }

  remove() {
    this.page.stopWaiting();
    if (this.address && !PENDING.has(this.kind)) this.abandon();
    this.clear();
    this.input.value = "";
    this.input.focus();
  }

  // After a reload: what the form brought back, or what this browser remembers of this page.
  async restore() {
    const value = this.hidden.value;
    const entry = value ? { address: `${this.page.endpoint}${idOf(value)}/` } : memory.ofField(location.pathname, this.name);
    if (!entry) return;
    const state = await this.stateOf(entry);
    if (this.kind) return; // a file was chosen meanwhile
    if (!state) {
      memory.forgetful(entry.address);
      this.hidden.value = "";
      return;
    }
    Object.assign(this, { address: entry.address, title: state.name || this.name, size: state.size, bytes: state.offset });
    if (state.offset === state.size) this.finish("is here");
    else this.show("remembered", `${portion(state.offset, state.size)} are here. Choose the file again to go on.`, [state.offset, state.size]);
  }

  // Asked by digest where there is one: a browser reports an answer of "not found" as an error of the page.
  async stateOf({ address, digest }) {
    if (digest) return (await find(this.page.endpoint, digest)).find((upload) => pathOf(upload.url) === address);
    return look(address).catch(() => null);
  }
}

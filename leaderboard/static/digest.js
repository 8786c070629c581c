// The digest of a file as evaluator/digests.py defines it: SHA-256 over the SHA-256 of each block of 8 MiB. One block is in memory
// at a time, and the browser hashes it beside the page.
export const BLOCK = 8 * 2 ** 20;

// Browsers hash in a secure context only: over https, or on this machine.
export const canDigest = () => Boolean(globalThis.crypto?.subtle);

async function sha256(bytes) {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
}

export function hexadecimal(bytes) {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

function base64(bytes) {
  return btoa(String.fromCharCode(...bytes));
}

// The header of tus for a part, or nothing where the browser cannot hash.
export async function checksum(part) {
  return canDigest() ? `sha256 ${base64(await sha256(await part.arrayBuffer()))}` : "";
}

// Returns the digest in hexadecimal. Throws what reading throws, and an AbortError once the signal says so.
export async function digestOf(file, { signal, progress = () => {} } = {}) {
  const digests = new Uint8Array(32 * Math.ceil(file.size / BLOCK));
  for (let start = 0, at = 0; start < file.size; start += BLOCK, at += 32) {
    signal?.throwIfAborted();
    digests.set(await sha256(await file.slice(start, start + BLOCK).arrayBuffer()), at);
    progress(Math.min(start + BLOCK, file.size));
  }
  return hexadecimal(await sha256(digests));
}

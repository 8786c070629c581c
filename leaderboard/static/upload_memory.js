// What this browser remembers of uploads, page by page, so that a reload or another day goes on where it stopped.
const KEY = "cirboard-uploads";
const MOST = 50;

function all() {
  try {
    const kept = JSON.parse(localStorage.getItem(KEY) ?? "[]");
    return Array.isArray(kept) ? kept : [];
  } catch {
    return []; // forbidden, or not ours
  }
}

function keep(entries) {
  try {
    localStorage.setItem(KEY, JSON.stringify(entries.slice(-MOST)));
  } catch {
    // Without memory everything works but the reload.
  }
}

// entry: {page, field, name, size, lastModified, digest, address}
export function remember(entry) {
  keep([...all().filter((other) => other.address !== entry.address), entry]);
}

export function forgetful(address) {
  keep(all().filter((other) => other.address !== address));
}

// The newest upload of a field on a page.
export function ofField(page, field) {
  return all().findLast((entry) => entry.page === page && entry.field === field);
}

// The address of an upload of what looks like this file, for browsers that cannot hash.
export function ofFile(file) {
  const same = (entry) => entry.name === file.name && entry.size === file.size && entry.lastModified === file.lastModified;
  return all().findLast(same)?.address ?? "";
}

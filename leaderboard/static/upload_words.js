// Sizes and times in words, and how fast bytes move.
export function megabytes(bytes) {
  const million = bytes / 1e6;
  if (million >= 1000) return `${(million / 1000).toFixed(1)} GB`;
  return `${million >= 10 || million === 0 ? Math.floor(million) : million.toFixed(1)} MB`;
}

// "120 of 350 MB": the unit once where both have the same.
export function portion(bytes, size) {
  const [here, all] = [megabytes(bytes), megabytes(size)];
  return here.slice(-2) === all.slice(-2) ? `${here.slice(0, -3)} of ${all}` : `${here} of ${all}`;
}

export function percent(bytes, size) {
  return size ? Math.floor((100 * bytes) / size) : 100;
}

function duration(seconds) {
  if (seconds < 90) return `${Math.ceil(seconds)} s`;
  return seconds < 5400 ? `${Math.round(seconds / 60)} min` : `${(seconds / 3600).toFixed(1)} h`;
}

// Bytes a second over the last ten seconds; a step back, after a broken line, begins anew.
export class Speed {
  constructor() {
    this.seen = [];
  }

  add(bytes, now = performance.now()) {
    if (this.seen.length && bytes < this.seen.at(-1).bytes) this.seen = [];
    this.seen.push({ bytes, now });
    while (this.seen.length > 2 && now - this.seen[0].now > 10000) this.seen.shift();
  }

  words(size) {
    if (this.seen.length < 2) return "";
    const [first, last] = [this.seen[0], this.seen.at(-1)];
    const seconds = (last.now - first.now) / 1000;
    const rate = (last.bytes - first.bytes) / seconds;
    if (seconds < 1 || rate <= 0) return "";
    return ` · ${megabytes(rate)}/s · ${duration((size - last.bytes) / rate)} left`;
  }
}

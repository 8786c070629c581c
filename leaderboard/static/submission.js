// Follows a submission, or a job of an audit, that is under way: asks for its state with a cheap conditional request and reloads the page once it has
// changed. The waiting time counts on between answers. Without this script the page refreshes itself.
const element = document.querySelector("[data-state-url]");
const pauses = [1000, 1000, 1500, 2000, 3000];
let asked = 0;
let etag = "";

function words(seconds) {
  if (seconds < 90) return `${seconds} s`;
  const minutes = Math.round(seconds / 60);
  return minutes < 90 ? `${minutes} min` : `${Math.round(minutes / 60)} h`;
}

function count() {
  for (const age of document.querySelectorAll("[data-since]")) {
    const seconds = Math.max(0, Math.round((Date.now() - Date.parse(age.dataset.since)) / 1000));
    age.textContent = words(seconds);
  }
}

async function ask() {
  asked += 1;
  try {
    const answer = await fetch(element.dataset.stateUrl, { headers: etag ? { "If-None-Match": etag } : {}, cache: "no-store" });
    if (answer.redirected) return; // signed out: the next click says so
    if (answer.status === 200) {
      etag = answer.headers.get("ETag") || "";
      const state = await answer.json();
      if (state.fingerprint !== element.dataset.fingerprint) {
        location.reload();
        return;
      }
      const place = document.querySelector("[data-ahead]");
      if (place && state.ahead !== null) place.textContent = state.ahead;
      const sentence = element.querySelector("[data-sentence]");
      if (sentence && sentence.textContent !== state.sentence) sentence.textContent = state.sentence;
      const line = document.querySelector("[data-progress]");
      if (line && state.progress !== undefined) line.textContent = state.progress;
      const bar = document.querySelector("[data-percent]");
      if (bar && state.percent !== undefined) bar.value = state.percent;
    } else if (answer.status !== 304) {
      return; // gone
    }
  } catch {
    // The network is away; try again later.
  }
  setTimeout(ask, document.hidden ? 10000 : pauses[Math.min(asked, pauses.length - 1)]);
}

if (element) {
  count();
  setInterval(count, 1000);
  setTimeout(ask, pauses[0]);
}

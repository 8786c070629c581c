// What a person sees of one file on its way: a bar, a line of words, and buttons that are there while they mean something.
import { percent } from "./upload_words.js";

const QUIET = 4000; // a voice that counts every second helps nobody: at most one announcement of progress in so many milliseconds
const STEP = 10; // and only after so many percent
let number = 0;

function element(name, properties = {}, ...children) {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
}

export class ProgressView {
  // actions: {label: function}; show() says which of them are offered.
  constructor(holder, actions) {
    const id = `transfer-${(number += 1)}`;
    this.title = element("p", { id, className: "transfer-name" });
    this.bar = element("progress", { max: 100, value: 0 });
    this.bar.setAttribute("aria-labelledby", id);
    this.line = element("p", { className: "transfer-line" });
    this.voice = element("p", { className: "visually-hidden" });
    this.voice.setAttribute("role", "status");
    this.buttons = new Map();
    const row = element("p", { className: "transfer-actions" });
    for (const [label, act] of Object.entries(actions)) {
      const button = element("button", { type: "button", className: "second", textContent: label });
      button.addEventListener("click", act);
      this.buttons.set(label, button);
      row.append(button);
    }
    this.box = element("div", { className: "transfer", hidden: true }, this.title, this.bar, this.line, row);
    this.box.setAttribute("role", "group");
    this.box.setAttribute("aria-labelledby", id);
    this.box.tabIndex = -1;
    holder.replaceChildren(this.box, this.voice);
    this.kind = "";
    this.said = { at: 0, percent: 0 };
  }

  hide() {
    this.box.hidden = true;
    this.kind = "";
    this.voice.textContent = "";
  }

  // kind: a word for the style; bar: [done, all] or nothing; offers: labels of buttons.
  show({ kind, name, words, bar = null, offers }) {
    this.box.hidden = false;
    this.box.className = `transfer ${kind}`;
    this.title.textContent = name;
    this.line.textContent = words;
    this.bar.hidden = !bar;
    if (bar) this.bar.value = percent(...bar);
    this.offer(offers, name);
    this.say(kind, `${name}: ${words}`, bar ? percent(...bar) : 0);
    this.kind = kind;
  }

  // Pause and Resume take each other's place: whoever pressed one by keyboard stays there, and never lands on Remove.
  offer(offers, name) {
    const held = [...this.buttons.values()].find((button) => button === document.activeElement);
    for (const [label, button] of this.buttons) {
      button.hidden = !offers.includes(label);
      button.setAttribute("aria-label", `${label} ${name}`);
    }
    if (held?.hidden) (this.buttons.get(offers.find((label) => label !== "Remove")) ?? this.box).focus();
  }

  say(kind, words, done) {
    const now = performance.now();
    const news = kind !== this.kind;
    if (!news && (now - this.said.at < QUIET || Math.abs(done - this.said.percent) < STEP)) return;
    this.said = { at: now, percent: done };
    this.voice.textContent = words;
  }
}

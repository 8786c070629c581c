// Resumable uploads of a form: large files are sent in parts while the rest is filled in, the form itself then carries small fields
// only. Without this script the form sends everything at once, as forms do.
import { FileField } from "./upload_field.js";
import { percent } from "./upload_words.js";

const LARGE = 8e6; // bytes; what is smaller is sent with the form, unless the form is one of vectors

class UploadForm {
  constructor(form) {
    this.form = form;
    this.endpoint = form.dataset.resumable;
    this.most = Number(form.dataset.resumableMax) || Infinity;
    this.submitter = null; // the button that waits for files
    this.label = "";
    this.going = false;
    const inputs = [...form.querySelectorAll("input[type=file][data-resumable-field]")];
    this.fields = inputs.filter((input) => FileField.fits(input)).map((input) => new FileField(this, input));
    for (const field of this.fields) field.input.addEventListener("change", () => this.chosen(field));
    form.addEventListener("submit", (event) => this.submit(event));
    addEventListener("beforeunload", (event) => this.leave(event));
    addEventListener("pageshow", (event) => event.persisted && this.back());
  }

  restore() {
    return Promise.all(this.fields.map((field) => field.restore()));
  }

  token() {
    return this.form.querySelector("input[name=csrfmiddlewaretoken]")?.value ?? "";
  }

  inUse(address, asking) {
    return this.fields.some((field) => field !== asking && field.address === address);
  }

  get ofVectors() {
    return new FormData(this.form).get("kind") === "embeddings";
  }

  chosen(field) {
    const file = field.input.files[0];
    if (!file) return; // a cancelled dialogue
    if (file.size > LARGE) field.take(file);
    else field.clear();
  }

  submit(event) {
    if (this.going) return;
    const open = this.fields.filter((field) => !field.input.matches(":disabled"));
    const refused = open.find((field) => field.kind === "refused");
    for (const field of open) this.hurry(field);
    if (refused || this.submitter || open.some((field) => field.pending)) event.preventDefault();
    if (refused) refused.view.box.focus();
    else if (event.defaultPrevented) this.wait(event.submitter);
    else this.lighten();
  }

  // Whoever submits wants it all sent: what was paused or failed goes on, and small files of vectors go the same way as large ones.
  hurry(field) {
    if (field.kind === "paused" || field.kind === "failed") field.run();
    const small = !field.kind && field.input.files[0];
    if (small && this.ofVectors) field.take(small);
  }

  wait(submitter) {
    if (this.submitter) return;
    this.submitter = submitter ?? this.form.querySelector("button[type=submit]");
    this.label = this.submitter.textContent;
    this.submitter.setAttribute("aria-disabled", "true");
    this.changed();
  }

  // Called by a field whenever it has moved.
  changed() {
    if (!this.submitter || this.going) return;
    const failed = this.fields.find((field) => field.kind === "failed" || field.kind === "refused");
    const pending = this.fields.filter((field) => field.pending);
    if (failed) {
      this.stopWaiting();
      failed.view.box.focus();
    } else if (pending.length) {
      this.submitter.textContent = `Uploading… ${this.total()} %`;
    } else {
      this.send();
    }
  }

  total() {
    const counted = this.fields.filter((field) => field.pending || field.kind === "whole");
    const sum = (what) => counted.reduce((total, field) => total + (field.kind === "reading" && what === "bytes" ? 0 : field[what]), 0);
    return percent(sum("bytes"), sum("size"));
  }

  stopWaiting() {
    if (!this.submitter) return;
    this.submitter.textContent = this.label;
    this.submitter.removeAttribute("aria-disabled");
    this.submitter = null;
  }

  send() {
    const { submitter } = this;
    this.stopWaiting();
    this.lighten();
    this.form.requestSubmit(submitter);
  }

  // The form leaves without the files that are there already.
  lighten() {
    this.going = true;
    for (const field of this.fields) {
      if (field.here) field.input.disabled = true;
    }
  }

  leave(event) {
    if (!this.going && this.fields.some((field) => field.moving)) event.preventDefault();
  }

  // By the browser's button: the page as it was left.
  back() {
    this.going = false;
    for (const field of this.fields) {
      if (field.here) field.input.disabled = false;
    }
  }
}

for (const form of document.querySelectorAll("form[data-resumable]")) new UploadForm(form).restore();

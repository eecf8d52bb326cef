"use strict";
// How pages are put together: texts go in as text, never as markup.
const SVG = "http://www.w3.org/2000/svg";

function make(parent, tag, text, classes) {
  const element = document.createElement(tag);
  if (text !== undefined && text !== null) element.textContent = text;
  if (classes) element.className = classes;
  if (parent) parent.append(element);
  return element;
}

function shape(parent, tag, attributes) {
  const element = document.createElementNS(SVG, tag);
  for (const name in attributes) element.setAttribute(name, attributes[name]);
  parent.append(element);
  return element;
}

function label(parent, x, y, text, anchor) {
  shape(parent, "text", { x, y, class: "sub", "text-anchor": anchor || "start" }).textContent = text;
}

function picture(panel, width, height, what) {
  return shape(panel, "svg", { class: "picture", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": what });
}

function bytesText(count) {
  return count >= 1048576 ? `${(count / 1048576).toFixed(2)} MB` : `${(count / 1024).toFixed(1)} KB`;
}


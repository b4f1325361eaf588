(function () {
  "use strict";
  var form = document.getElementById("filter");
  if (!form) { return; }
  var output = form.querySelector("output");
  var rows = Array.prototype.slice.call(document.querySelectorAll("[data-i]"));
  var sections = Array.prototype.slice.call(document.querySelectorAll("main > section"));
  var items = {};

  rows.forEach(function (row) {
    var own = row.getAttribute("data-i").split(" ");
    if (own.length !== 1) { return; }
    var item = items[own[0]] || (items[own[0]] = { groups: [], state: "", text: "" });
    if (row.hasAttribute("data-s")) {
      item.state = row.getAttribute("data-s");
      item.groups = row.getAttribute("data-g").split(" ");
    }
    item.text += " " + row.textContent.toLowerCase();
  });

  function value(name) {
    return form.elements[name] ? form.elements[name].value : "";
  }

  function apply() {
    var group = value("group"), state = value("state"), text = value("text").trim().toLowerCase();
    var names = Object.keys(items), wanted = {}, count = 0;
    names.forEach(function (name) {
      var item = items[name];
      wanted[name] = (group === "" || item.groups.indexOf(group) >= 0) &&
        (state === "" || item.state === state) && (text === "" || item.text.indexOf(text) >= 0);
      count += wanted[name] ? 1 : 0;
    });
    rows.forEach(function (row) {
      row.hidden = !row.getAttribute("data-i").split(" ").some(function (name) { return wanted[name]; });
    });
    sections.forEach(function (section) {
      var own = section.querySelectorAll("[data-i]");
      if (own.length) { section.hidden = !section.querySelector("[data-i]:not([hidden])"); }
    });
    output.textContent = count + " of " + names.length + " shown";
  }

  form.addEventListener("input", apply);
  form.addEventListener("change", apply);
  form.querySelector("button").addEventListener("click", function (event) {
    event.preventDefault();  // the event "reset" comes before the fields have changed
    form.reset();
    apply();
  });
  form.addEventListener("submit", function (event) { event.preventDefault(); });
  form.hidden = false;
  apply();
}());

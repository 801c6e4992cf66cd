// Runs before the page is shown, in any browser however old: what the reader has chosen, and whether the
// page's own scripts can run here at all.
(function () {
  var root = document.documentElement;
  var names = ["theme", "motion", "keys"];
  for (var i = 0; i < names.length; i++) {
    try {
      var value = localStorage.getItem("duels." + names[i]);
      if (value) root.setAttribute("data-" + names[i], value);
    } catch (refused) {} // a browser may keep nothing
  }
  try {
    // Before the board is drawn, so that a neighbour sees nothing of it.
    if (localStorage.getItem("duels.veil " + location.pathname)) root.classList.add("veiled");
  } catch (refused) {}
  window.addEventListener("load", function () {
    if (!root.hasAttribute("data-ready")) document.getElementById("old").removeAttribute("hidden");
  });
})();

// Runs before the page is shown, in browsers of any age. Applies the reader's settings and checks that the
// page's modules have run.
(function () {
  var root = document.documentElement;
  var names = ["theme", "motion", "keys"];
  for (var i = 0; i < names.length; i++) {
    try {
      var value = localStorage.getItem("duels." + names[i]);
      if (value) root.setAttribute("data-" + names[i], value);
    } catch (refused) {} // storage may be blocked
  }
  try {
    // Before the board is drawn, so that nobody nearby sees it.
    if (localStorage.getItem("duels.veil " + location.pathname)) root.classList.add("veiled");
  } catch (refused) {}
  window.addEventListener("load", function () {
    if (!root.hasAttribute("data-ready")) document.getElementById("not-loaded").removeAttribute("hidden");
  });
})();

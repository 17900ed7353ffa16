// The calculator page. The functions are pure and can be called from the console as `calculator`; below them is the
// wiring of the form. All logs are natural, neighbours are replace-one, and a bound is never rounded down.
const calculator = (() => {
  const { abs, ceil, cos, exp, expm1, log, log1p, max, min, PI, sqrt, tanh } = Math;
  const LIMITS = { epsilon0: [0.001, 12], n: [2, 1e9], delta: [1e-30, 0.5], k: [2, 1000] };

  // ---- roots: the epsilon at which a decreasing function falls to 0, from above -----------------------------------
  const root = (f, low, high) => {
    for (let i = 0; i < 200 && high - low > 4e-16 * high; i += 1) {
      const middle = 0.5 * (low + high);
      if (middle === low || middle === high) break;
      if (f(middle) > 0) low = middle;
      else high = middle;
    }
    return high;
  };

  // ---- binary randomized response, exactly: the excess of a binomial count over a threshold -----------------------
  const stirling = (n) => { // log n! less Stirling's formula
    if (n > 15) return (1 / 12 - (1 / 360 - (1 / 1260 - 1 / (1680 * n * n)) / (n * n)) / (n * n)) / n;
    let total = 0;
    for (let i = 2; i <= n; i += 1) total += log(i);
    return total - (n + 0.5) * log(n) + n - 0.5 * log(2 * PI);
  };
  const deviance = (x, mean) => { // x log(x/mean) + mean - x
    const r = (x - mean) / (x + mean);
    if (abs(r) > 0.1) return x * log(x / mean) + mean - x;
    let [term, total] = [2 * x * r, (x - mean) * r];
    for (let j = 3; j < 60; j += 2) {
      term *= r * r;
      const next = total + term / j;
      if (next === total) break;
      total = next;
    }
    return total;
  };
  const logBinomial = (n, x, p, q) => {
    if (x === 0) return n * log1p(-p);
    if (x === n) return n * log1p(-q);
    const rest = n - x;
    return stirling(n) - stirling(x) - stirling(rest) - deviance(x, n * p) - deviance(rest, n * q) +
      0.5 * log(n / (2 * PI * x * rest));
  };
  const logExcess = (n, p, q, threshold) => { // log E(T - threshold)+, threshold at or above the mean
    const first = max(0, ceil(threshold));
    if (first > n || (first === n && first - threshold <= 0)) return -Infinity;
    let [term, total] = [1, first - threshold];
    for (let x = first; x < n; x += 1) {
      term *= ((n - x) / (x + 1)) * (p / q);
      const part = (x + 1 - threshold) * term;
      total += part;
      if (part < 1e-17 * total) break;
    }
    return logBinomial(n, first, p, q) + log(total);
  };
  const binaryLogDelta = (epsilon0, n, epsilon) => { // all others alike, the larger direction
    const [flip, keep] = [1 / (1 + exp(epsilon0)), 1 / (1 + exp(-epsilon0))];
    const logScale = epsilon0 + log(-expm1(-2 * epsilon0)) - log(n);
    const away = (change) => change / exp(logScale);
    return min(0, logScale + max(
      logExcess(n, flip, keep, n * flip + away(expm1(epsilon))),
      epsilon + logExcess(n, keep, flip, n * keep + away(-expm1(-epsilon))),
    ));
  };
  const binaryExact = (epsilon0, n, delta) => {
    const goal = log(delta);
    if (binaryLogDelta(epsilon0, n, 0) <= goal) return 0;
    return root((epsilon) => binaryLogDelta(epsilon0, n, epsilon) - goal, 0, epsilon0);
  };

  // ---- the Gaussian limit: delta = integral over x > 0 of (1 - e^(-mu x)) phi(x + epsilon/mu - mu/2) --------------
  const NODES = (() => { // Gauss-Legendre on [0, 1]
    const [count, nodes] = [16, []];
    for (let i = 0; i < count; i += 1) {
      let [x, slope] = [cos((PI * (i + 0.75)) / (count + 0.5)), 0];
      for (let step = 0; step < 8; step += 1) {
        let [before, now] = [1, x];
        for (let j = 2; j <= count; j += 1) [before, now] = [now, ((2 * j - 1) * x * now - (j - 1) * before) / j];
        slope = (count * (x * now - before)) / (x * x - 1);
        x -= now / slope;
      }
      nodes.push([(1 + x) / 2, 1 / ((1 - x * x) * slope * slope)]);
    }
    return nodes;
  })();
  const gaussianLogDelta = (mu, epsilon) => {
    const a = epsilon / mu - mu / 2;
    const reach = a > 0 ? 84 / (a + sqrt(a * a + 84)) : sqrt(a * a + 84) - a;
    const panel = reach / 12;
    let total = 0;
    for (let i = 0; i < 12; i += 1) {
      for (const [node, weight] of NODES) {
        const x = (i + node) * panel;
        total -= weight * expm1(-mu * x) * exp(-x * (a + x / 2));
      }
    }
    return min(0, log(total * panel) - a * a / 2 - 0.5 * log(2 * PI));
  };
  const gaussianEpsilon = (mu, delta) => {
    const goal = log(delta) - 1e-12; // the allowance of the library
    if (gaussianLogDelta(mu, 0) <= goal) return 0;
    let top = 8 * mu + mu * mu;
    while (gaussianLogDelta(mu, top) > goal) top *= 2;
    return root((epsilon) => gaussianLogDelta(mu, epsilon) - goal, 0, top);
  };
  const limitMu = (epsilon0, n, k) =>
    k === 2 ? expm1(epsilon0) * exp(-epsilon0 / 2) / sqrt(n)
      : expm1(epsilon0) * sqrt(2 / ((expm1(epsilon0) + k) * n));

  // ---- tables: log delta = that of the Gaussian limit + x (polynomial in x, epsilon0, s, v) -----------------------
  const crowd = (kind, epsilon0, n, k) => {
    if (kind === "clones") {
      const messages = n * exp(-epsilon0);
      return { messages, v: 1, mu: (2 * tanh(epsilon0 / 2)) / sqrt(messages) };
    }
    const flip = 1 / (expm1(epsilon0) + k);
    return { messages: n * flip, v: (exp(epsilon0) + 2) * flip, mu: limitMu(epsilon0, n, k) };
  };
  const chebyshev = (count, value, [low, high]) => {
    const t = (2 * value - low - high) / (high - low);
    const out = [1, t];
    while (out.length < count) out.push(2 * t * out[out.length - 1] - out[out.length - 2]);
    return out.slice(0, count);
  };
  const tabulated = (kind, epsilon0, n, delta, k = 2) => {
    const { ranges, [kind]: table } = window.calculatorTables;
    const { messages, v, mu } = crowd(kind, epsilon0, n, k);
    const [least, most] = ranges.epsilon0;
    if (epsilon0 < least || epsilon0 > most) return { note: `outside the table, which needs ε₀ from ${least} to ${most}` };
    if (messages < ranges.messages) {
      const need = ceil((ranges.messages * n) / messages);
      return { note: `outside the table, which needs at least ${need.toLocaleString("en")} users here` };
    }
    const [powers, first, second, shares] = table.shape;
    const x = 1 / sqrt(messages);
    const inEpsilon0 = chebyshev(first, epsilon0, ranges.epsilon0);
    const inS = new Array(second).fill(0); // what is left after x, epsilon0 and v are put in
    let at = 0;
    for (let a = 0; a < powers; a += 1)
      for (let b = 0; b < first; b += 1)
        for (let c = 0; c < second; c += 1)
          for (let d = 0; d < shares; d += 1) {
            inS[c] += table.coefficients[at] * (x * sqrt(ranges.messages)) ** a * inEpsilon0[b] * v ** d;
            at += 1;
          }
    const logDelta = (s) =>
      gaussianLogDelta(mu, s * mu) +
      x * chebyshev(second, s, ranges.deviations).reduce((sum, value, c) => sum + value * inS[c], 0);
    const [low, high] = ranges.deviations;
    if (logDelta(low) <= log(delta)) return { note: "outside the table: δ is too large here" };
    if (logDelta(high) > log(delta)) return { note: "outside the table: δ is too small here" };
    return { epsilon: mu * root((s) => logDelta(s) - log(delta), low, high), error: table.error };
  };

  // ---- the privacy blanket: bounds of Hoeffding and Bennett -------------------------------------------------------
  const phi = (u) => { // (1 + u) log(1 + u) - u
    if (u >= 0.05) return (1 + u) * log1p(u) - u;
    let series = 0;
    for (let k = 14; k > 1; k -= 1) series = (k % 2 ? -1 : 1) / (k * (k - 1)) + u * series;
    return series * u * u;
  };
  const moments = (epsilon0, k, epsilon) => { // of L: its range and second moment; k = null for any randomizer
    const u = exp(epsilon0);
    const gamma = k ? k / (expm1(epsilon0) + k) : 1 / u;
    const low = k ? 1 : (2 * u) / (1 + u);
    const weight = k ? 1 / k : 0.5;
    const top = -gamma * low * u * expm1(epsilon - epsilon0);
    const bottom = -gamma * low * expm1(epsilon + epsilon0);
    const third = gamma * expm1(epsilon);
    return { gamma, top, bottom, second: weight * (top ** 2 + bottom ** 2) + (1 - 2 * weight) * third ** 2 };
  };
  const logHoeffding = (epsilon0, n, k, epsilon) => {
    const { gamma, top, bottom } = moments(epsilon0, k, epsilon);
    const [a, b] = [expm1(epsilon), top - bottom];
    const value = 2 * log(b) - log(4 * a * gamma * n) + n * log1p(gamma * expm1(-2 * (a / b) ** 2));
    if (k) return value;
    const wide = expm1(epsilon0) * (1 + exp(epsilon));
    const kappa = 2 * (a / wide) ** 2;
    const mass = min(-expm1(-kappa), -gamma * expm1(-kappa / gamma ** 2));
    return min(value, 2 * log(wide) - log(4 * a * n) + n * log1p(-mass));
  };
  const logBennett = (epsilon0, n, k, epsilon) => {
    const { gamma, top, second } = moments(epsilon0, k, epsilon);
    const [a, e] = [expm1(epsilon), exp(epsilon)];
    const u = (a * top) / second;
    const kept = log1p(gamma * expm1((-second / top ** 2) * phi(u)));
    const value = log(top / (gamma * n * log1p(u))) + n * kept + log(-expm1(n * (log1p(-gamma) - kept)));
    if (k) return value;
    const v = a / (e * e + 1);
    return min(value, epsilon0 - log(n * log1p(v)) + n * log1p(gamma * expm1(-(e * e + 1) * phi(v))));
  };
  const local = (epsilon0, epsilon) => log(-expm1(epsilon - epsilon0)) - log1p(exp(-epsilon0)); // without shuffling
  const blanket = (formula) => (epsilon0, n, delta, k) => {
    const goal = log(delta) - 1e-10; // the allowance of the library
    const excess = (epsilon) =>
      (epsilon < epsilon0 ? min(local(epsilon0, epsilon), formula(epsilon0, n, k, epsilon)) : -Infinity) - goal;
    if (local(epsilon0, 0) <= goal) return 0;
    let low = 0;
    for (let i = 0; i < 600; i += 1) { // the formulas may rise again close to epsilon0: take the first crossing
      const next = epsilon0 * (i < 200 ? 10 ** (-9 + (8 * i) / 199) : 0.1 + (0.9 * (i - 199)) / 400);
      if (excess(next) <= 0) return root(excess, low, next);
      low = next;
    }
    return epsilon0;
  };
  const blanketHoeffding = blanket(logHoeffding);
  const blanketBennett = blanket(logBennett);

  // ---- closed forms -----------------------------------------------------------------------------------------------
  const clonesClosed = (epsilon0, n, delta) => {
    const u = exp(epsilon0);
    const inner = 8 * sqrt((u * (log(4) - log(delta))) / n) + (8 * u) / n;
    return min(log1p(tanh(epsilon0 / 2) * inner), epsilon0);
  };
  const clonesLimit = (n, delta) => log(n / (16 * (log(2) - log(delta)))); // of epsilon0
  const theorem7 = (epsilon0, n, delta) => {
    const [L, gain, u] = [-log(delta), expm1(epsilon0), exp(epsilon0)];
    const e1 = (2 * u * u * gain) / n;
    const spread = sqrt((2 * L) / n);
    const [squared, half] = [u * u * gain, exp(1.5 * epsilon0) * gain];
    return {
      general: e1 * sqrt(2 * n * L) + n * e1 * expm1(e1),
      refined: 2 * squared * spread + (6 * squared * squared) / n,
      simple: 12 * epsilon0 * sqrt(L / n),
      sharpened: half * spread + (half * half) / (2 * n),
      lastSwap: n < 3 ? null
        : exp(0.5 * epsilon0) * gain * spread + (u * gain * gain) / (2 * n) + log1p(gain / (1 + (n - 1) / u)) +
          (2 * tanh(epsilon0 / 4) * gain * gain * (1 + 1 / u)) / (1 + (n - 3) / u),
    };
  };

  // ---- one setting ------------------------------------------------------------------------------------------------
  const NAMES = { epsilon0: "ε₀", n: "n", delta: "δ", k: "k" };
  const complaint = (name, text) => { // why a field cannot be used, or ""
    const value = Number(text);
    const [low, high] = LIMITS[name];
    if (String(text).trim() === "" || !Number.isFinite(value)) return `${NAMES[name]} must be a number, such as 1e-6`;
    if (value < low || value > high) return `${NAMES[name]} must be from ${low} to ${high}`;
    if ((name === "n" || name === "k") && !Number.isInteger(value)) return `${NAMES[name]} must be a whole number`;
    return "";
  };
  const short = (value) => Number(value.toPrecision(3)).toString();
  const compute = ({ epsilon0, n, delta, k }) => { // by row: epsilon or nothing, and a note on the range
    const rows = {};
    const put = (name, epsilon, note, kind = "bound") => {
      if (epsilon >= epsilon0 && kind === "bound") {
        rows[name] = { epsilon: epsilon0, note: `${note}; gives no more than ε₀ itself`, capped: true };
      } else rows[name] = { epsilon, note };
    };
    const when = (name, holds, condition, epsilon) => {
      if (holds) put(name, epsilon, `in its range: ${condition}`);
      else rows[name] = { note: `outside its range: needs ${condition}` };
    };
    if (k === 2) {
      const epsilon = binaryExact(epsilon0, n, delta);
      put("exact", epsilon, epsilon ? "computed here, to 1e-9" : "δ alone covers every event", "exact");
    } else {
      const found = tabulated("krr", epsilon0, n, delta, k);
      rows.exact = { ...found, note: found.note ?? `from a table, to ${found.error}` };
    }
    put("hoeffding", blanketHoeffding(epsilon0, n, delta, k), "holds for every setting");
    put("bennett", blanketBennett(epsilon0, n, delta, k), "holds for every setting");
    const clones = tabulated("clones", epsilon0, n, delta);
    if (clones.note) rows.clones = clones;
    else put("clones", clones.epsilon * (1 + clones.error), `from a table, rounded up by ${clones.error}`);
    const most = clonesLimit(n, delta);
    when("clonesClosed", epsilon0 <= most, `ε₀ ≤ log(n/(16 log(2/δ))) = ${short(most)}`, clonesClosed(epsilon0, n, delta));
    put("hoeffdingFree", blanketHoeffding(epsilon0, n, delta, null), "holds for every setting");
    put("bennettFree", blanketBennett(epsilon0, n, delta, null), "holds for every setting");
    const forms = theorem7(epsilon0, n, delta);
    when("lastSwap", n >= 3, "n ≥ 3", forms.lastSwap);
    put("sharpened", forms.sharpened, "holds for every setting");
    put("general", forms.general, "holds for every setting");
    when("refined", epsilon0 <= log(n / 4) / 3, `ε₀ ≤ log(n/4)/3 = ${short(log(n / 4) / 3)}`, forms.refined);
    when("simple", n >= 1000 && epsilon0 < 0.5 && delta < 0.01, "n ≥ 1000, ε₀ < 1/2, δ < 1/100", forms.simple);
    put("limit", gaussianEpsilon(limitMu(epsilon0, n, k), delta), "an approximation, not a guarantee", "limit");
    for (const row of Object.values(rows))
      if (row.epsilon !== undefined && rows.exact.epsilon > 0) row.ratio = row.epsilon / rows.exact.epsilon;
    return rows;
  };

  return {
    LIMITS, binaryExact, blanketBennett, blanketHoeffding, clonesClosed, complaint, compute, gaussianEpsilon, limitMu,
    tabulated, theorem7,
  };
})();

// ---- the form -------------------------------------------------------------------------------------------------------
window.addEventListener("DOMContentLoaded", () => {
  const form = document.querySelector(".calculator form");
  if (!form) return;
  const FIELDS = ["epsilon0", "n", "delta", "k"];
  const LOGARITHMIC = { n: true, delta: true, k: true };
  const field = (name) => form.elements[name];
  const slider = (name) => form.elements[`${name}-slider`];
  const rows = new Map([...document.querySelectorAll(".calculator tr[data-row]")].map((row) => [row.dataset.row, row]));
  const summary = document.querySelector(".calculator output");

  const upwards = (value, digits = 4) => { // a bound is shown rounded up
    if (value === 0) return "0";
    const unit = 10 ** (Math.floor(Math.log10(value)) - digits + 1);
    const rounded = Math.ceil(value / unit - 1e-9) * unit;
    return rounded < 1e-3 || rounded >= 1e4 ? rounded.toExponential(digits - 1) : String(Number(rounded.toPrecision(digits)));
  };
  const times = (ratio) => (ratio < 100 ? ratio.toPrecision(3) : Math.round(ratio).toLocaleString("en"));
  const bar = (share) =>
    `<svg viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true"><rect width="${(100 * share).toFixed(1)}" height="8"/></svg>`;

  const clear = () => rows.forEach((row) => {
    for (const part of [".value", ".times", ".note"]) row.querySelector(part).textContent = "";
    row.classList.remove("capped", "missing");
  });

  const show = (setting) => {
    const found = calculator.compute(setting);
    const known = Object.values(found).map((row) => row.epsilon).filter((epsilon) => epsilon > 0);
    const least = found.exact.epsilon || Math.min(...known);
    const length = (epsilon) =>
      Math.min(1, Math.max(0.01, Math.log((2 * epsilon) / least) / Math.log((2 * setting.epsilon0) / least)));
    for (const [name, row] of rows) {
      const { epsilon, ratio, note, capped } = found[name];
      const missing = epsilon === undefined;
      row.classList.toggle("capped", Boolean(capped));
      row.classList.toggle("missing", missing);
      row.querySelector(".value").textContent = missing ? "–" : upwards(epsilon);
      row.querySelector(".times").innerHTML = missing ? "" : `<span>${ratio ? times(ratio) : ""}</span>${epsilon ? bar(length(epsilon)) : ""}`;
      row.querySelector(".note").textContent = note;
    }
    const best = (names) => names.filter((name) => found[name].epsilon !== undefined)
      .reduce((a, b) => (found[b].epsilon < found[a].epsilon ? b : a));
    const sentence = (title, name) => {
      const { epsilon, ratio } = found[name];
      const label = rows.get(name).querySelector(".name").textContent;
      return `${title}: ${upwards(epsilon)} (${label}${ratio ? `, ${times(ratio)} times the exact value` : ""}).`;
    };
    summary.textContent = [
      found.exact.epsilon === undefined ? "Exact value: none here." : `Exact value: ${upwards(found.exact.epsilon)}.`,
      sentence("Smallest bound for every randomizer", best(["clones", "clonesClosed", "hoeffdingFree", "bennettFree"])),
      sentence("If later reports may depend on earlier ones", best(["lastSwap", "sharpened", "general", "refined", "simple"])),
    ].join(" ");
  };

  const update = () => {
    const complaints = FIELDS.map((name) => {
      const message = calculator.complaint(name, field(name).value);
      field(name).setAttribute("aria-invalid", String(message !== ""));
      document.getElementById(`calculator-${name}-message`).textContent = message;
      if (!message) {
        const value = Number(field(name).value);
        slider(name).value = LOGARITHMIC[name] ? Math.log10(value) : value;
        slider(name).setAttribute("aria-valuetext", field(name).value);
      }
      return message;
    });
    if (complaints.some(Boolean)) {
      clear();
      summary.textContent = "Nothing is computed: a field cannot be used.";
      return;
    }
    const setting = Object.fromEntries(FIELDS.map((name) => [name, Number(field(name).value)]));
    show(setting);
    history.replaceState(null, "", `#${FIELDS.map((name) => `${name}=${field(name).value.trim()}`).join("&")}`);
  };

  const read = () => {
    for (const [name, value] of new URLSearchParams(location.hash.slice(1)))
      if (FIELDS.includes(name)) field(name).value = value;
    update();
  };

  FIELDS.forEach((name) => {
    field(name).addEventListener("input", update);
    slider(name).addEventListener("input", () => {
      const position = Number(slider(name).value);
      const value = LOGARITHMIC[name] ? 10 ** position : position;
      field(name).value = name === "n" || name === "k" ? Math.round(Number(value.toPrecision(3)))
        : name === "delta" ? value.toExponential(1).replace(".0e", "e") : Number(value.toPrecision(4));
      update();
    });
  });
  form.addEventListener("submit", (event) => event.preventDefault());
  window.addEventListener("hashchange", read);
  read();
});

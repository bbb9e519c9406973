// SPDX-License-Identifier: Apache-2.0
// Draws each chart of the page: bars are medians, thin bars reach from quartile to quartile, points are rounds.
const colours = ['#8a97a6', '#1f77b4', '#e08a1e', '#5b9e5b', '#9467bd', '#b04a4a'];
for (const chart of charts) {
  const points = chart.rounds.flatMap((values, i) => values.map(y => ({ x: chart.labels[i], y })));
  new Chart(document.getElementById(chart.id), {
    data: {
      labels: chart.labels,
      datasets: [
        { type: 'line', label: 'round', data: points, showLine: false, pointRadius: 3,
          pointBackgroundColor: '#ffffff', pointBorderColor: '#1d2733' },
        { type: 'bar', label: 'quartiles', data: chart.quartiles, grouped: false, barPercentage: 0.06,
          backgroundColor: '#1d2733' },
        { type: 'bar', label: 'median', data: chart.medians, grouped: false, barPercentage: 0.7,
          backgroundColor: chart.labels.map((label, i) => colours[i % colours.length]) }
      ]
    },
    options: {
      animation: false,
      maintainAspectRatio: false,
      plugins: { title: { display: true, text: chart.title }, legend: { display: false } },
      scales: { y: { beginAtZero: true, title: { display: true, text: chart.unit } } }
    }
  });
}

// Prints how many microseconds `require` of a module takes.
const start = performance.now();
require(process.argv[2]);
console.log((performance.now() - start) * 1000);

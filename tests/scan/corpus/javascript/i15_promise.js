const wait = (ms) => new Promise((done) => setTimeout(done, ms));
export async function main() {
  await wait(1);
  return Promise.all([1, 2].map(async (x) => x + 1));
}

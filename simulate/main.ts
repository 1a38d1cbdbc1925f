/** `npm run simulate` runs seeds.ts; `npm run simulate -- preemption` runs preemption.ts. */
const [name] = process.argv.slice(2)
if (name === 'preemption') {
  process.argv.splice(2, 1)
  await import('./preemption.ts')
} else await import('./seeds.ts')

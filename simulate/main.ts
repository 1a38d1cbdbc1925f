/** `npm run simulate` runs seeds.ts; `npm run simulate -- preemption`, `estimates` or `race` runs the file of that name. */
const [name] = process.argv.slice(2)
if (name === 'preemption' || name === 'estimates' || name === 'race') {
  process.argv.splice(2, 1)
  await import(`./${name}.ts`)
} else await import('./seeds.ts')

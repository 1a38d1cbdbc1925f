import { printFigures } from './figures.ts'

/** The console in Chromium: `npm run bench -- console [PART …]` measures some parts or all, and prints figures with goals. */
const parts: Readonly<Record<string, string>> = {
  log: './log.ts',
  jobs: './jobs.ts',
  pages: './pages.ts',
}

const wanted = process.argv.slice(2)
const unknown = wanted.find((name) => !Object.hasOwn(parts, name))
if (unknown !== undefined) throw new Error(`Unknown part ${unknown}; there are ${Object.keys(parts).join(', ')}`)
for (const [name, file] of Object.entries(parts)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue
  const { measure } = (await import(file)) as { measure: () => Promise<void> }
  await measure()
}
printFigures()

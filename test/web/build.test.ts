import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { beforeAll, expect, it } from 'vitest'
import { root } from '../support/sources.ts'

/** The size budget of the console, in bytes that a browser loads. */
const dist = join(root, 'web/dist')
const read = (path: string) => readFileSync(join(dist, path), 'utf8')
const sizeOf = (path: string) => gzipSync(readFileSync(join(dist, path))).length
const sum = (sizes: readonly number[]) => sizes.reduce((all, size) => all + size, 0)

beforeAll(() => void execFileSync(process.execPath, [join(root, 'web/build.ts')]))

const assets = () => readdirSync(join(dist, 'assets')).map((name) => `assets/${name}`)

/** Returns the script of the page, and everything that it and a `part` import statically. */
function firstScripts(part?: string): Set<string> {
  const found = new Set<string>()
  const add = (path: string) => {
    if (found.has(path)) return
    found.add(path)
    for (const [, name] of read(path).matchAll(/(?:from|import)\s*["'`]\.\/([\w.-]+\.js)["'`]/g)) add(`assets/${name}`)
  }
  for (const [, path = ''] of read('index.html').matchAll(/(?:src|href)="\.\/(assets\/[^"]+\.js)"/g)) add(path)
  if (part) add(part)
  return found
}

it('the job list loads at most 170 kB of JavaScript', () => {
  const page = assets().find((path) => /\/jobs-[\w-]+\.js$/.test(path)) ?? ''
  expect(read(page)).toContain('New job')
  expect(sum([...firstScripts(page)].map(sizeOf))).toBeLessThanOrEqual(170_000)
})

it('each chunk that is loaded later has at most 180 kB', () => {
  const first = firstScripts()
  const later = assets().filter((path) => path.endsWith('.js') && !first.has(path))
  expect(later.length).toBeGreaterThan(0)
  expect(Math.max(...later.map(sizeOf))).toBeLessThanOrEqual(180_000)
})

it('all styles have at most 30 kB, and all fonts 110 kB', () => {
  expect(
    sum(
      assets()
        .filter((path) => path.endsWith('.css'))
        .map(sizeOf),
    ),
  ).toBeLessThanOrEqual(30_000)
  const fonts = assets().filter((path) => path.endsWith('.woff2'))
  expect(fonts.length).toBe(2)
  expect(sum(fonts.map((path) => readFileSync(join(dist, path)).length))).toBeLessThanOrEqual(110_000)
})

it('each script, style and picture has compressed files beside it, and none is inlined', () => {
  const names = assets()
  const whole = names.filter((path) => /\.(js|css)$/.test(path))
  expect(whole.flatMap((path) => ['br', 'gz'].filter((end) => !names.includes(`${path}.${end}`)))).toEqual([])
  expect(whole.filter((path) => read(path).includes('url(data:'))).toEqual([])
  expect(read('index.html')).not.toMatch(/<script(?![^>]*src=)|<style|style="/)
})

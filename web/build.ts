import { createHash } from 'node:crypto'
import { existsSync, globSync } from 'node:fs'
import { readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import { shortenDocument } from './bundle-documents.ts'

/**
 * Builds the console into `web/dist`: files with hashed names, each compressed by brotli and gzip, and the manifest of
 * its documents, which the server trusts. Does nothing if the sources have not changed, or without development packages.
 */
const here = import.meta.dirname
const root = join(here, '..')
const dist = join(here, 'dist')
const stampFile = join(dist, 'sources.sha256')
const sources = ['web/**/*.{ts,tsx,css,html,svg,json}', 'src/client/**/*.ts', 'package-lock.json']

async function hashSources(): Promise<string> {
  const hash = createHash('sha256')
  const paths = globSync(sources, { cwd: root, exclude: ['web/dist/**', 'web/dist.new-*/**'] })
  for (const path of paths.toSorted()) hash.update(path).update(await readFile(join(root, path)))
  return hash.digest('hex')
}

async function writeManifest(folder: string): Promise<void> {
  const documents: object = await import('./generated/graphql.ts')
  const texts = Object.entries(documents).flatMap(([name, each]) =>
    name.endsWith('Document') ? [shortenDocument(String(each))] : [],
  )
  const byHash = texts.map((text) => [createHash('sha256').update(text).digest('hex'), text])
  await writeFile(join(folder, 'documents.json'), JSON.stringify(Object.fromEntries(byHash)))
}

/** Fonts are not compressed again, because their format is compressed. */
async function compressAssets(folder: string): Promise<void> {
  const paths = globSync('assets/*.{js,css,svg}', { cwd: folder })
  const compress = async (path: string) => {
    const bytes = await readFile(join(folder, path))
    const params = { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY }
    await writeFile(join(folder, `${path}.br`), await promisify(brotliCompress)(bytes, { params }))
    await writeFile(join(folder, `${path}.gz`), await promisify(gzip)(bytes, { level: 9 }))
  }
  await Promise.all(paths.map(compress))
}

/** Builds beside the old console and replaces it at the end, so that a failed build leaves the old one. */
async function buildConsole(): Promise<void> {
  const stamp = await hashSources()
  if (existsSync(stampFile) && (await readFile(stampFile, 'utf8')) === stamp) return
  // Vite reads NODE_ENV. Without this, a test would make a development build.
  process.env['NODE_ENV'] = 'production'
  const { build } = await import('vite')
  const folder = `${dist}.new-${process.pid}`
  const old = `${folder}-old`
  const configFile = join(here, 'vite.config.ts')
  try {
    await build({ configFile, logLevel: 'error', build: { outDir: folder, emptyOutDir: true } })
    await writeManifest(folder)
    await compressAssets(folder)
    await writeFile(join(folder, 'sources.sha256'), stamp)
    await renameUnless('ENOENT', dist, old)
    await renameUnless('ENOTEMPTY', folder, dist)
  } finally {
    for (const left of [folder, old]) await rm(left, { recursive: true, force: true })
  }
}

/** The error means that another build was faster. */
async function renameUnless(code: string, from: string, to: string): Promise<void> {
  await rename(from, to).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== code) throw error
  })
}

if (existsSync(join(root, 'node_modules/vite'))) await buildConsole()
else console.warn('The web console is not built: the development packages are not installed.')

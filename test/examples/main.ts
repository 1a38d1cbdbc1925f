import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { build, preview } from 'vite'
import { startBerthProcess } from '../support/berth-process.ts'
import { freePort } from '../support/berth-server.ts'
import { hasChromium, launchChromium } from '../support/chromium.ts'
import { startProxy } from '../support/proxy.ts'
import { root } from '../support/sources.ts'
import { drive } from './drive.ts'
import { logIn } from './log-in.ts'
import { storm } from './storm.ts'

/**
 * The pages of examples/ in a browser, against a real server: `node test/examples/main.ts`. Each page is driven as a person
 * does it; then both show the truth after the work of others and cuts of their connections. The pages come from another
 * origin than the API, and their connections go through a proxy that cuts. `BERTH_TEST_SCREENSHOTS` names a folder for
 * pictures.
 */
if (!hasChromium()) process.exit(0)

const host = 'pages.example.org'

const directory = await mkdtemp(join(tmpdir(), 'berth-examples-'))
await using stack = new AsyncDisposableStack()
stack.defer(() => rm(directory, { recursive: true, force: true }))

const ports = { apollo: await freePort(), urql: await freePort() }
const origins = Object.values(ports).map((port) => `http://${host}:${port}`)
const config = join(directory, 'berth.yaml')
await writeFile(config, JSON.stringify({ server: { allowedOrigins: origins } }))

const dataDir = join(directory, 'data')
const options = { dataDir: directory, port: await freePort(), env: { BERTH_CONFIG: config, BERTH_DATA_DIR: dataDir } }
let berth = await startBerthProcess(options)
stack.defer(async () => void (await berth.end()))
const proxy = await startProxy(berth.url)
stack.defer(() => proxy.close())

process.env['VITE_BERTH_URL'] = proxy.url
// The pages are built for development, in which React and the caches warn: drive.ts demands that they do not.
process.env['NODE_ENV'] = 'development'
for (const [name, port] of Object.entries(ports)) {
  const page = {
    root: join(root, 'examples', name),
    configFile: join(root, 'examples/vite.config.ts'),
    logLevel: 'warn',
  } as const
  const built = { ...page, build: { outDir: join(directory, name), minify: false } }
  await build(built)
  const pages = await preview({
    ...built,
    preview: { host: '127.0.0.1', port, strictPort: true, allowedHosts: [host] },
  })
  stack.defer(() => pages.close())
}

const browser = await launchChromium({ args: [`--host-resolver-rules=MAP ${host} 127.0.0.1`] })
stack.defer(() => browser.close())
const open = (name: keyof typeof ports) => ({ name, url: `http://${host}:${ports[name]}/` })

for (const name of ['apollo', 'urql'] as const) {
  await drive({ browser, berth, proxy, ...open(name) })
  console.log(`${name}: submitted, followed, tailed, cancelled, deleted; refusals and outages are shown`)
}
const restart = async () => {
  await berth.end('SIGKILL')
  berth = await startBerthProcess(options)
}
const seconds = await storm({ browser, url: () => berth.url, proxy, restart, pages: [open('apollo'), open('urql')] })
console.log(`both pages show the truth after 1,000 mutations by others and 100 cuts (${seconds.toFixed(0)} s)`)

await berth.end()
const secret = 'a-secret-of-the-administrator-of-the-pages'
berth = await startBerthProcess({ ...options, env: { ...options.env, BERTH_BOOTSTRAP_TOKEN: secret } })
for (const name of ['apollo', 'urql'] as const) await logIn({ browser, serverUrl: berth.url, secret, ...open(name) })
console.log('both pages ask for a token, and again when it is revoked')

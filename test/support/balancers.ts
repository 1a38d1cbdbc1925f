import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process'
import { mkdtempSync } from 'node:fs'
import { readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from './berth-server.ts'
import { makeDirectory } from './directory.ts'
import { root } from './sources.ts'
import { until } from './until.ts'

/**
 * HAProxy and nginx in front of servers, with the configurations of docs/proxies.md, but on a loopback port and without
 * TLS.
 */
export interface Balancer extends AsyncDisposable {
  /** URL for clients, with the path from the documentation. */
  readonly url: string
}

export interface Haproxy extends Balancer {
  /** The state of each server by its name, such as UP or DOWN. */
  readStates(): Promise<Record<string, string>>
}

type Program = 'haproxy' | 'nginx'

/** Prints why tests are skipped if the program is missing. */
export function hasProgram(program: Program): boolean {
  const isThere = spawnSync(program, ['-v'], { env: searchPath() }).status === 0
  if (!isThere) console.error(`SKIPPED: ${program} not found. Install it: apt install ${program}`)
  return isThere
}

/** Debian has both programs in folders that only root has in its PATH. */
const searchPath = () => ({ ...process.env, PATH: `${process.env['PATH']}:/usr/sbin:/sbin` })

const running = new Set<ChildProcess>()
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL')
})

async function readSnippet(language: string): Promise<string> {
  const text = await readFile(join(root, 'docs/proxies.md'), 'utf8')
  const [, snippet] = text.match(new RegExp(`\`\`\`${language}\n([\\s\\S]*?)\`\`\``)) ?? []
  if (snippet === undefined) throw new Error(`docs/proxies.md has no ${language}`)
  return snippet
}

/** Replaces each text, which must be in the documentation. */
const adapt = (text: string, changes: readonly (readonly [RegExp, string])[]) =>
  changes.reduce((before, [pattern, instead]) => {
    if (!pattern.test(before)) throw new Error(`docs/proxies.md lacks ${pattern}`)
    return before.replace(pattern, instead)
  }, text)

interface Begin {
  program: Program
  /** Path of its configuration file. */
  args: (file: string) => readonly string[]
  config: (folder: string) => string
  port: number
}

async function begin({ program, args, config, port }: Begin): Promise<Balancer> {
  const folder = mkdtempSync(join(tmpdir(), `berth-${program}-`))
  const file = join(folder, 'config')
  await writeFile(file, config(folder))
  const child = spawn(program, args(file), { env: searchPath(), stdio: ['ignore', 'pipe', 'pipe'] })
  running.add(child)
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (data) => (output += data))
  const ended = new Promise((resolve) => child.once('exit', resolve))
  const url = `http://127.0.0.1:${port}`
  const listens = () => {
    if (child.exitCode !== null) throw new Error(`${program} ended with ${child.exitCode}:\n${output}`)
    return fetch(url).then(
      () => true,
      () => false,
    )
  }
  await until(listens, { what: `${program} listens` })
  return {
    url: `${url}/berth`,
    async [Symbol.asyncDispose]() {
      child.kill('SIGTERM')
      await ended
      running.delete(child)
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** `ports`: ports of the servers. `checkMs`: interval of the health checks, in place of the documented one. */
export async function startHaproxy(
  [one, two]: readonly [number, number],
  { checkMs }: { checkMs: number },
): Promise<Haproxy> {
  const [port, statistics] = [await freePort(), await freePort()]
  const snippet = adapt(await readSnippet('haproxy'), [
    [/bind :443 ssl .*/, `bind 127.0.0.1:${port}`],
    [/inter 2s/, `inter ${checkMs}ms`],
    [/10\.0\.0\.1:4000/, `127.0.0.1:${one}`],
    [/10\.0\.0\.2:4000/, `127.0.0.1:${two}`],
  ])
  const more = `\nfrontend statistics\n  bind 127.0.0.1:${statistics}\n  stats enable\n  stats uri /\n`
  const balancer = await begin({
    program: 'haproxy',
    args: (file) => ['-db', '-f', file],
    config: () => snippet + more,
    port,
  })
  return {
    ...balancer,
    async readStates() {
      const table = await (await fetch(`http://127.0.0.1:${statistics}/;csv`)).text()
      const [names = '', ...rows] = table.replace(/^# /, '').trim().split('\n')
      const at = (name: string) => names.split(',').indexOf(name)
      const servers = rows.map((row) => row.split(',')).filter((cells) => /^(one|two)$/.test(cells[at('svname')] ?? ''))
      return Object.fromEntries(servers.map((cells) => [cells[at('svname')], cells[at('status')]]))
    },
  }
}

export async function startNginx(serverPort: number): Promise<Balancer> {
  const port = await freePort()
  const snippet = adapt(await readSnippet('nginx'), [
    [/listen 443 ssl http2;/, `listen 127.0.0.1:${port};`],
    [/ *ssl_certificate .*\n/, ''],
    [/ *ssl_certificate_key .*\n/, ''],
    [/127\.0\.0\.1:4000/, `127.0.0.1:${serverPort}`],
  ])
  return beginNginx(snippet, port)
}

/** Starts nginx with TLS and its own certificate for these host names, each with a server at its root. */
export async function startTlsNginx(serverPort: number, names: readonly string[], port: number): Promise<Balancer> {
  const folder = makeDirectory()
  const [key, certificate] = [join(folder, 'key.pem'), join(folder, 'certificate.pem')]
  const subject = ['-subj', '/CN=berth', '-addext', `subjectAltName=${names.map((name) => `DNS:${name}`).join(',')}`]
  const files = ['-keyout', key, '-out', certificate]
  execFileSync('openssl', ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', ...subject, ...files], { stdio: 'ignore' })
  const snippet = adapt(await readSnippet('nginx'), [
    [/listen 443 ssl http2;/, `listen 127.0.0.1:${port} ssl http2;`],
    [/server_name .*;/, `server_name ${names.join(' ')};`],
    [/ssl_certificate .*/, `ssl_certificate ${certificate};`],
    [/ssl_certificate_key .*/, `ssl_certificate_key ${key};`],
    [/127\.0\.0\.1:4000/, `127.0.0.1:${serverPort}`],
    [/location \/berth\/ /, 'location / '],
    [/http:\/\/berth\/;/, 'http://berth;'],
  ])
  return beginNginx(snippet, port)
}

function beginNginx(snippet: string, port: number): Promise<Balancer> {
  const config = (folder: string) => {
    const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
      .map((name) => `${name}_temp_path ${folder}/${name};`)
      .join(' ')
    const user = process.getuid?.() === 0 ? 'user root;' : ''
    return `${user} daemon off; worker_processes 1; pid ${folder}/pid; error_log stderr;
events {}
http { access_log off; ${temporary}
${snippet}}`
  }
  return begin({ program: 'nginx', args: (file) => ['-e', 'stderr', '-c', file], config, port })
}

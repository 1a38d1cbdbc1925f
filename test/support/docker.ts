import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, open } from 'node:fs/promises'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { until } from './until.ts'

/** Starts dockerd over its own containerd. With live-restore, containers survive its stop. */
export interface Docker extends AsyncDisposable {
  /** unix:///… */
  readonly address: string
  start(): Promise<void>
  end(signal: NodeJS.Signals): Promise<void>
}

/** Name of its only image, which contains busybox. */
export const busyboxImage = 'localhost/bb:1'
const startMsMax = 60_000

export async function startDocker({ liveRestore = true } = {}): Promise<Docker> {
  await using made = new AsyncDisposableStack()
  const directory = await mkdtemp(join(tmpdir(), 'berth-docker-'))
  const path = (name: string) => join(directory, name)
  // A stopped dockerd with live-restore leaves its mount behind.
  made.defer(async () => void (await sh(`umount ${path('docker')} 2>/dev/null; rm -rf ${directory}`)))
  const containerdSocket = path('containerd.sock')
  const containerd = await launch(directory, 'containerd', [
    ...['--root', path('containerd'), '--state', path('containerd-state'), '--address', containerdSocket],
  ])
  made.defer(() => end(containerd, 'SIGTERM'))
  const socket = path('docker.sock')
  const address = `unix://${socket}`
  let daemon: ChildProcess | null = null
  const endDaemon = async (signal: NodeJS.Signals) => void (daemon && (await end(daemon, signal)))
  made.defer(() => endDaemon('SIGTERM'))

  const docker: Docker = {
    address,
    async start() {
      daemon = await launch(directory, 'dockerd', [
        ...['--containerd', containerdSocket, '-H', address, '--pidfile', path('docker.pid')],
        ...(liveRestore ? ['--live-restore'] : []),
        ...['--data-root', path('docker'), '--exec-root', path('docker-exec')],
        // Separate from the networks of another dockerd on this machine.
        ...['--bridge', 'none', '--default-address-pool', 'base=10.231.0.0/16,size=24'],
      ])
      await until(() => answers(socket), { what: 'dockerd answers', timeoutMs: startMsMax })
    },
    end: endDaemon,
    async [Symbol.asyncDispose]() {},
  }
  await docker.start()
  const stopAll = `docker -H ${address} ps -q | xargs -r docker -H ${address} rm -f; docker -H ${address} network prune -f`
  made.defer(async () => void (await sh(stopAll).catch(() => null)))
  await sh(`root=${path('root')}; mkdir -p $root/bin $root/tmp $root/etc && cp /bin/busybox $root/bin/ &&
    chroot $root /bin/busybox --install -s /bin && echo root:x:0:0:root:/:/bin/sh >$root/etc/passwd &&
    tar -C $root -c . | docker -H ${address} import --change 'ENV PATH=/bin' - ${busyboxImage}`)
  const kept = made.move()
  return Object.assign(docker, { [Symbol.asyncDispose]: () => kept.disposeAsync() })
}

const sh = (text: string) => promisify(execFile)('/bin/sh', ['-c', text])

async function launch(directory: string, command: string, args: readonly string[]): Promise<ChildProcess> {
  await using log = await open(join(directory, `${command}.log`), 'a')
  return spawn(command, args, { cwd: directory, stdio: ['ignore', log.fd, log.fd] })
}

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, 'exit')
  child.kill(signal)
  await ended
}

const answers = (socketPath: string) =>
  new Promise<boolean>((resolve) => {
    const asked = request({ socketPath, path: '/_ping' }, (response) => {
      response.resume()
      resolve(response.statusCode === 200)
    })
    asked.on('error', () => resolve(false))
    asked.end()
  })

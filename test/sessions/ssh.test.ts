import { execFile, execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { chmod, mkdir, writeFile } from 'node:fs/promises'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { openServer } from '../support/api.ts'
import { freePort } from '../support/berth-server.ts'
import { CommandLine } from '../support/command-line.ts'
import { root } from '../support/sources.ts'
import { until } from '../support/until.ts'

const sshd = '/usr/sbin/sshd'
if (!existsSync(sshd)) console.info('SKIPPED: ssh into a job; install openssh-server')

const { server, api, dataDir } = await openServer(`
pools: [{ name: local, executor: local, jobsAsRoot: true, nodes: [{ name: here, cpu: 64, memoryGib: 64 }] }]
queues: [{ name: default, pool: local }]
`)
const { berth } = new CommandLine(dataDir, { BERTH_URL: server.url })

it.skipIf(!existsSync(sshd))(
  'ssh connects to a job through berth forward --stdio, as docs/exec.md configures it',
  async () => {
    const port = await freePort()
    for (const name of ['host', 'user'])
      execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', join(dataDir, name)])
    const settings = [
      `HostKey ${join(dataDir, 'host')}`,
      `AuthorizedKeysFile ${join(dataDir, 'user.pub')}`,
      ...[
        'StrictModes no',
        'UsePAM no',
        'PidFile none',
        'PermitRootLogin yes',
        'ListenAddress 127.0.0.1',
        `Port ${port}`,
      ],
    ]
    await writeFile(join(dataDir, 'sshd.conf'), `${settings.join('\n')}\n`)
    if (process.getuid?.() === 0) await mkdir('/run/sshd', { recursive: true })
    const command = [sshd, '-D', '-e', '-f', join(dataDir, 'sshd.conf')]
    const job = await api.submit({ command, resources: { memoryGib: 1 } })
    await until(async () => /listening on/.test(JSON.stringify(await berth('logs', job))), {
      what: 'sshd listens',
    })
    const forward = join(dataDir, 'forward.sh')
    const cli = `exec ${process.execPath} ${join(root, 'src/cli/main.ts')} forward ${job} ${port} --stdio`
    await writeFile(forward, `#!/bin/sh\nBERTH_URL=${server.url} HOME=${dataDir} ${cli}\n`)
    await chmod(forward, 0o755)
    const config = join(dataDir, 'ssh.conf')
    const host = [`ProxyCommand ${forward}`, `User ${userInfo().username}`, `HostKeyAlias ${job}`]
    const trust = [
      ...[`IdentityFile ${join(dataDir, 'user')}`, 'StrictHostKeyChecking accept-new'],
      `UserKnownHostsFile ${join(dataDir, 'known')}`,
    ]
    await writeFile(config, `Host my-job\n${[...host, ...trust].map((line) => `  ${line}\n`).join('')}`)
    const { stdout } = await promisify(execFile)('ssh', ['-F', config, 'my-job', 'echo in "$SSH_CONNECTION"; id -un'])
    expect(stdout).toMatch(new RegExp(`^in 127.0.0.1 \\d+ 127.0.0.1 ${port}\\n${userInfo().username}\\n$`))
    await berth('cancel', job)
  },
)

import type { Command } from 'commander'
import type { Cli } from '../frame/cli.ts'
import { runServerProgram } from '../frame/server.ts'
import { readAmount, readCount } from '../reading/numbers.ts'

interface BackupOptions {
  config?: string
  logs: boolean
  files: boolean
  rate?: number
  maxMinutes?: number
}

const configHelp = 'the configuration file of the server'

export function registerBackupCommand(program: Command, cli: Cli): void {
  const backup = program.command('backup').description('write all data of a server to a file, and try such a file out')
  backup
    .command('create', { isDefault: true })
    .summary('write all data of a server to a file')
    .description(
      'write the database to a tar file while the server works; runs on the machine of the data directory, or with DATABASE_URL',
    )
    .argument('<file>', 'the file to write, or - for stdout')
    .option('--config <file>', configHelp)
    .option('--no-logs', 'leave out the output of jobs')
    .option('--no-files', 'leave out the files of snapshots')
    .option('--rate <MiB>', 'most MiB per second to read from the database', readAmount)
    .option('--max-minutes <n>', 'give up after this time: a long backup keeps PostgreSQL from cleaning up', readCount)
    .action((file: string, { config, logs, files, rate, maxMinutes }: BackupOptions) =>
      runServerProgram(cli, 'backup/main', [
        ...(logs ? [] : ['--no-logs']),
        ...(files ? [] : ['--no-files']),
        ...(rate === undefined ? [] : ['--rate', String(rate)]),
        ...(maxMinutes === undefined ? [] : ['--max-minutes', String(maxMinutes)]),
        ...toArguments('backup', file, config),
      ]),
    )
  registerVerifyCommand(backup, cli)
}

function registerVerifyCommand(backup: Command, cli: Cli) {
  backup
    .command('verify')
    .summary('restore a backup on trial')
    .description(
      'restore a backup into a PostgreSQL of its own in a temporary folder (TMPDIR), check all data, and remove both; exits with 1 if it finds a problem',
    )
    .argument('<file>', 'a file of "berth backup"')
    .option('--config <file>', configHelp)
    .action((file: string, { config }: Pick<BackupOptions, 'config'>) =>
      runServerProgram(cli, 'backup/main', toArguments('verify', file, config)),
    )
}

export function registerRestoreCommand(program: Command, cli: Cli): void {
  program
    .command('restore')
    .summary('restore a backup into an empty database')
    .description(
      'restore a backup into an empty database, of DATABASE_URL or of a new data directory; stop all servers of the old one first',
    )
    .argument('<file>', 'a file of "berth backup"')
    .option('--config <file>', configHelp)
    .action((file: string, { config }: Pick<BackupOptions, 'config'>) =>
      runServerProgram(cli, 'backup/main', toArguments('restore', file, config)),
    )
}

const toArguments = (verb: string, file: string, config: string | undefined) => [
  ...(config === undefined ? [] : [`--config=${config}`]),
  '--',
  verb,
  file,
]

import { Command, type OutputConfiguration } from 'commander'
import packageJson from '../../../package.json' with { type: 'json' }
import { registerApiCommand } from '../commands/api.ts'
import { registerApproveCommand } from '../commands/approve.ts'
import { registerArtifactCommand } from '../commands/artifact.ts'
import { registerAuditCommand } from '../commands/audit.ts'
import { registerBackupCommand, registerRestoreCommand } from '../commands/backup.ts'
import { registerCancelCommand } from '../commands/cancel.ts'
import { registerClosureCommand } from '../commands/closure.ts'
import { registerCompletionCommand } from '../commands/completion.ts'
import { registerContextCommand } from '../commands/context.ts'
import { registerDiffCommand } from '../commands/diff.ts'
import { registerDoctorCommand } from '../commands/doctor.ts'
import { registerEventsCommand } from '../commands/events.ts'
import { registerExecCommand } from '../commands/exec.ts'
import { registerForwardCommand } from '../commands/forward.ts'
import { registerGpusCommand } from '../commands/gpus.ts'
import { registerInfoCommand } from '../commands/info.ts'
import { registerKeyCommand } from '../commands/key.ts'
import { registerLimitsCommand } from '../commands/limits.ts'
import { registerLoginCommand } from '../commands/login.ts'
import { registerLogoutCommand } from '../commands/logout.ts'
import { registerLogsCommand } from '../commands/logs.ts'
import { registerLsCommand } from '../commands/ls.ts'
import { registerNodeCommand } from '../commands/node.ts'
import { registerOpenCommand } from '../commands/open.ts'
import { registerPlanCommand } from '../commands/plan.ts'
import { registerPriorityCommand } from '../commands/priority.ts'
import { registerProgressCommand } from '../commands/progress.ts'
import { registerQuotaCommand } from '../commands/quota.ts'
import { registerRejectCommand } from '../commands/reject.ts'
import { registerReservationCommand } from '../commands/reservation.ts'
import { registerRetryCommand } from '../commands/retry.ts'
import { registerRmCommand } from '../commands/rm.ts'
import { registerRulesCommand } from '../commands/rules.ts'
import { registerSecretCommand } from '../commands/secret.ts'
import { registerServeCommand } from '../commands/serve.ts'
import { registerSessionsCommand } from '../commands/sessions.ts'
import { registerSlotCommand } from '../commands/slot.ts'
import { registerSpecCommand } from '../commands/spec.ts'
import { registerSubmitCommand } from '../commands/submit.ts'
import { registerTeamCommand } from '../commands/team.ts'
import { registerTokenCommand } from '../commands/token.ts'
import { registerTopCommand } from '../commands/top.ts'
import { registerUpCommand } from '../commands/up.ts'
import { registerUsageCommand } from '../commands/usage.ts'
import { registerUserCommand } from '../commands/user.ts'
import { registerWaitCommand } from '../commands/wait.ts'
import { registerWebhooksCommand } from '../commands/webhooks.ts'
import { registerWhoamiCommand } from '../commands/whoami.ts'
import { registerWhyCommand } from '../commands/why.ts'
import { registerWorkloadCommand } from '../commands/workload.ts'
import { addJobNames } from '../reading/job-name.ts'
import type { Cli } from './cli.ts'
import { addContextOption } from './context-option.ts'
import { addExamples } from './examples.ts'
import type { Streams } from './terminal.ts'

const groups: Readonly<Record<string, readonly ((program: Command, cli: Cli) => void)[]>> = {
  'Submit:': [
    registerSubmitCommand,
    registerRetryCommand,
    registerSlotCommand,
    registerKeyCommand,
    registerSecretCommand,
  ],
  'Look:': [registerLsCommand, registerInfoCommand, registerLogsCommand, registerEventsCommand, registerWaitCommand],
  'Explain:': [registerWhyCommand, registerSpecCommand, registerDiffCommand, registerUsageCommand, registerOpenCommand],
  'Enter:': [registerExecCommand, registerForwardCommand, registerSessionsCommand],
  'Change:': [registerCancelCommand, registerPriorityCommand, registerRmCommand],
  'Workload and machines:': [
    registerWorkloadCommand,
    registerTopCommand,
    registerPlanCommand,
    registerGpusCommand,
    registerNodeCommand,
    registerReservationCommand,
    registerLimitsCommand,
  ],
  'Approvals and quotas:': [registerApproveCommand, registerRejectCommand, registerRulesCommand, registerQuotaCommand],
  'Log in:': [registerLoginCommand, registerLogoutCommand, registerWhoamiCommand, registerContextCommand],
  'Users:': [registerUserCommand, registerTeamCommand, registerTokenCommand, registerAuditCommand],
  'Server:': [
    registerUpCommand,
    registerServeCommand,
    registerDoctorCommand,
    registerBackupCommand,
    registerRestoreCommand,
    registerWebhooksCommand,
    registerApiCommand,
    registerCompletionCommand,
  ],
  'Inside a job:': [registerProgressCommand, registerArtifactCommand, registerClosureCommand],
}

/** `named` returns the called command, for messages. Help and errors go to `streams`. */
export function createProgram(cli: Cli, named: () => string, streams?: Pick<Streams, 'stdout' | 'stderr'>): Command {
  const program = new Command('berth')
    .description('Submit jobs and watch them live.')
    .usage('<command> [options]')
    .configureHelp({ subcommandTerm: (command) => command.name() })
    .enablePositionalOptions()
    .exitOverride()
    .version(packageJson.version)
    .configureOutput({
      ...(streams && useStreams(streams)),
      outputError: (message, write) =>
        write(
          `${message
            .replace(/^error: /, 'berth: ')
            .trim()
            .replace(/\.$/, '')
            .replaceAll('\n', ' ')}; see "${named()} --help"\n`,
        ),
    })
  for (const [heading, registers] of Object.entries(groups)) {
    program.commandsGroup(heading)
    for (const register of registers) register(program, cli)
  }
  addContextOption(program)
  addExamples(program)
  addJobNames(program, cli)
  program.commandsGroup('Help:').helpCommand('help [command]', 'show the help of a command')
  return program
}

const helpColumnsDefault = 80

const useStreams = ({ stdout, stderr }: Pick<Streams, 'stdout' | 'stderr'>): OutputConfiguration => ({
  writeOut: (text) => stdout.write(text),
  writeErr: (text) => stderr.write(text),
  getOutHelpWidth: () => (stdout.isTTY && stdout.columns) || helpColumnsDefault,
  getErrHelpWidth: () => (stderr.isTTY && stderr.columns) || helpColumnsDefault,
})

import { access, constants } from 'node:fs/promises'
import { join } from 'node:path'
import { findTraits } from '../../domain/executors.ts'
import { countProcesses } from '../../domain/spec.ts'
import { type RunSpec, StartFailed } from '../executor.ts'
import {
  buildArgv,
  type CarriedEnvironment,
  type Environment,
  encodeEnvironment,
  escapeAssignment,
} from '../process/environment.ts'
import { rankLauncher } from '../process/scripts.ts'
import { systemPath } from '../process/search-path.ts'
import { sourcingShell } from './shell.ts'
import { noMpirunMessage } from './start-failure.ts'

const rankVariable = 'BERTH_RANK'
const ranksVariable = 'BERTH_RANKS'

/** Variables of the launcher; a job cannot override them. */
export function buildRankEnvironment({ spec }: RunSpec): Environment {
  if (spec.launcher !== 'multiple') return {}
  return { [rankVariable]: '0', [ranksVariable]: String(countProcesses(spec.resources)) }
}

interface Command extends Pick<CarriedEnvironment, 'environment'> {
  argv: readonly string[]
  /** The PATH in which the account of the job must find mpirun; '' if the launcher does not use mpirun. */
  mpirunPath: string
}

/**
 * Builds the command line of a run: its launcher and preLaunch, the command, and postLaunch. `path` makes paths
 * absolute.
 */
export async function buildCommand(
  run: RunSpec,
  environment: Environment,
  path: (given: string | null) => string,
): Promise<Command> {
  const { spec } = run
  const argv = await addLauncher(run, environment)
  const ranks = spec.launcher === 'multiple' ? countProcesses(spec.resources) : 1
  const scripts = [path(spec.preLaunch), path(spec.postLaunch)]
  const hasScripts = scripts.some((script) => script !== '')
  const late = ranks > 1 && !hasScripts ? [rankVariable] : []
  const { step, ...carried } = encodeEnvironment(environment, late)
  const mpirunPath = spec.launcher === 'mpirun' ? (environment['PATH'] ?? '') : ''
  const around = [...sourcingShell, '-c', rankLauncher, 'berth', path(spec.stdinPath), ...scripts, String(ranks)]
  // Only scripts have a shell with the environment of the job.
  if (hasScripts) return { ...carried, mpirunPath, argv: [...step, ...around, ...argv] }
  return { ...carried, mpirunPath, argv: [...(ranks > 1 ? around : []), ...step, ...escapeAssignment(argv)] }
}

async function addLauncher(run: RunSpec, environment: Environment): Promise<readonly string[]> {
  const { launcher, resources } = run.spec
  const argv = buildArgv(run, environment)
  const [program, ...rest] = argv
  if (program === undefined) throw new StartFailed('BAD_SPEC', 'The spec has no command')
  switch (launcher) {
    case 'single':
    case 'multiple':
      return environment['PATH'] === undefined ? [(await findProgram(program, systemPath)) ?? program, ...rest] : argv
    case 'mpirun': {
      // If the job sets PATH, its account must look for mpirun there (path-check.ts).
      const mpirun = environment['PATH'] === undefined ? await findProgram('mpirun', systemPath) : 'mpirun'
      if (mpirun) return [mpirun, '-n', String(countProcesses(resources)), ...argv]
      throw new StartFailed('BAD_SPEC', noMpirunMessage)
    }
    default:
      throw new StartFailed(
        'BAD_SPEC',
        `launcher: ${launcher} is unknown; use ${findTraits('local').launchers.join(', ')}`,
      )
  }
}

async function findProgram(program: string, path: string): Promise<string | null> {
  if (program.includes('/')) return null
  for (const directory of path.split(':')) {
    const file = join(directory, program)
    const isThere = await access(file, constants.X_OK).then(
      () => true,
      () => false,
    )
    if (isThere) return file
  }
  return null
}

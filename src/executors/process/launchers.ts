import { countProcesses } from '../../domain/spec.ts'
import type { RunSpec } from '../executor.ts'
import type { Environment } from './environment.ts'

/**
 * Settings for Open MPI, which by default rejects root, and more ranks than cores. Since version 5 they are settings of
 * PRRTE.
 */
const openMpi = {
  OMPI_MCA_rmaps_base_oversubscribe: '1',
  PRTE_MCA_rmaps_default_mapping_policy: ':oversubscribe',
}
const openMpiAsRoot = {
  OMPI_ALLOW_RUN_AS_ROOT: '1',
  OMPI_ALLOW_RUN_AS_ROOT_CONFIRM: '1',
  PRTE_ALLOW_RUN_AS_ROOT: '1',
  PRTE_ALLOW_RUN_AS_ROOT_CONFIRM: '1',
}

/** Variables that a launcher on one machine needs; a job may override them. */
export function buildLauncherEnvironment(run: RunSpec, asRoot: boolean): Environment {
  return run.spec.launcher === 'mpirun' ? { ...openMpi, ...buildRootEnvironment(run, asRoot) } : {}
}

/** Variables for a launcher whose backend has already assigned a node to each rank. */
export function buildRootEnvironment({ spec }: RunSpec, asRoot: boolean): Environment {
  return spec.launcher === 'mpirun' && asRoot ? openMpiAsRoot : {}
}

/**
 * Returns the content of the file PSIJ_NODEFILE: the node of each process, one per line; null: there is one process.
 */
export function buildNodeFile(run: RunSpec): string | null {
  const nodes = run.nodes.length > 0 ? run.nodes : ['localhost']
  const processes = countProcesses(run.spec.resources)
  if (processes === 1) return null
  const perNode = run.spec.resources.processesPerNode ?? Math.ceil(processes / nodes.length)
  return Array.from({ length: processes }, (_, rank) => `${nodes[Math.floor(rank / perNode) % nodes.length]}\n`).join(
    '',
  )
}

import { KubernetesExecutor } from '../../../src/executors/kubernetes/kubernetes.ts'
import type { KubernetesOptions } from '../../../src/executors/kubernetes/start.ts'
import { machineParts } from '../runs.ts'

/** Opens an executor on a cluster, with the options of tests. */
export const openCluster = (options: Partial<KubernetesOptions>): KubernetesExecutor =>
  new KubernetesExecutor({
    installation: 'test',
    environment: {},
    image: 'i',
    dataRoots: {},
    ...machineParts,
    ...options,
  })

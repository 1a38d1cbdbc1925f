/**
 * The meaning of each state of a Slurm job, and of a node. Both tables are complete for Slurm 20.11 to 25.11; another state is
 * logged, and its run keeps its state.
 */

export type Phase =
  /** The job has not begun, and may begin. */
  | 'waits'
  | 'runs'
  /** The exit code counts. */
  | 'over'
  | 'cancelled'
  | 'time over'
  | 'out of memory'
  | 'preempted'
  /** The node, or the start on it, failed. */
  | 'node lost'

const phases: Readonly<Record<string, Phase>> = {
  PENDING: 'waits',
  CONFIGURING: 'waits',
  POWER_UP_NODE: 'waits',
  REQUEUED: 'waits',
  REQUEUE_FED: 'waits',
  REQUEUE_HOLD: 'waits',
  RESV_DEL_HOLD: 'waits',
  SPECIAL_EXIT: 'waits',
  EXPEDITING: 'waits',
  RUNNING: 'runs',
  COMPLETING: 'runs',
  RESIZING: 'runs',
  SIGNALING: 'runs',
  STAGE_OUT: 'runs',
  STOPPED: 'runs',
  SUSPENDED: 'runs',
  UPDATE_DB: 'runs',
  COMPLETED: 'over',
  FAILED: 'over',
  CANCELLED: 'cancelled',
  REVOKED: 'cancelled',
  TIMEOUT: 'time over',
  DEADLINE: 'time over',
  OUT_OF_MEMORY: 'out of memory',
  PREEMPTED: 'preempted',
  BOOT_FAIL: 'node lost',
  LAUNCH_FAILED: 'node lost',
  NODE_FAIL: 'node lost',
  RECONFIG_FAIL: 'node lost',
}

/** null: unknown. */
export const phaseOfJob = (state: string): Phase | null => phases[state] ?? null

/** An unknown state counts as alive. */
export function isJobAlive(state: string): boolean {
  const phase = phaseOfJob(state)
  return phase === null || phase === 'waits' || phase === 'runs'
}

export type NodeState = 'READY' | 'CORDONED' | 'LOST'

const nodeStates: Readonly<Record<string, NodeState>> = {
  allocated: 'READY',
  completing: 'READY',
  idle: 'READY',
  mixed: 'READY',
  planned: 'READY',
  reserved: 'READY',
  powered_down: 'READY',
  powering_up: 'READY',
  power_down: 'READY',
  power_up: 'READY',
  blocked: 'CORDONED',
  drained: 'CORDONED',
  draining: 'CORDONED',
  fail: 'CORDONED',
  failing: 'CORDONED',
  maint: 'CORDONED',
  perfctrs: 'CORDONED',
  powering_down: 'CORDONED',
  reboot: 'CORDONED',
  reboot_issued: 'CORDONED',
  reboot_requested: 'CORDONED',
  rebooted: 'CORDONED',
  down: 'LOST',
  error: 'LOST',
  future: 'LOST',
  inval: 'LOST',
  no_respond: 'LOST',
  unknown: 'LOST',
}

/** `idle`, `mixed-`, `down*`: a word and flags. `*`: the node is unreachable. null: unknown. */
export function parseNodeState(text: string): NodeState | null {
  const [, word = '', signs = ''] = text.toLowerCase().match(/^([a-z_]+)(.*)$/) ?? []
  const state = nodeStates[word] ?? null
  if (state === 'READY' && signs.includes('*')) return 'LOST'
  return state === 'READY' && /[$@^%!]/.test(signs) ? 'CORDONED' : state
}

/**
 * Every state of a Slurm job, and of a node, in the words of Berth. Both tables are complete for Slurm 20.11 to 25.11;
 * a word that is not here is reported in the log, and nothing is concluded from it.
 */

export type Phase =
  /** It has not begun, and may. */
  | 'waits'
  | 'runs'
  /** It is over by itself: the exit code tells how. */
  | 'over'
  | 'cancelled'
  | 'time over'
  | 'out of memory'
  | 'preempted'
  /** Its node, or the start on it, failed. */
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

/** null: a word that this version does not know. */
export const jobPhaseOf = (state: string): Phase | null => phases[state] ?? null

/** A word that this version does not know counts: nothing may be concluded from it. */
export function isJobAlive(state: string): boolean {
  const phase = jobPhaseOf(state)
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

/** `idle`, `mixed-`, `down*`: a word, and signs behind it. `*`: the node does not answer. null: an unknown word. */
export function nodeStateOf(text: string): NodeState | null {
  const [, word = '', signs = ''] = text.toLowerCase().match(/^([a-z_]+)(.*)$/) ?? []
  const state = nodeStates[word] ?? null
  if (state === 'READY' && signs.includes('*')) return 'LOST'
  return state === 'READY' && /[$@^%!]/.test(signs) ? 'CORDONED' : state
}

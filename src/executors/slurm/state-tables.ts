import { mapWords } from '../backend/map-words.ts'
import type { BackendNode } from '../executor.ts'

/** The job states of Slurm 20.11 to 25.11. An unknown state is logged, and its run keeps its state. */

export type Phase =
  /** The job has not begun but may still begin. */
  | 'waits'
  | 'runs'
  /** The job has ended, and its exit code counts. */
  | 'over'
  | 'cancelled'
  | 'time over'
  | 'out of memory'
  | 'preempted'
  /** The node failed, or the start on the node. */
  | 'node lost'

const phases = mapWords<Phase>([
  ['waits', 'PENDING CONFIGURING POWER_UP_NODE EXPEDITING SPECIAL_EXIT'],
  ['waits', 'REQUEUED REQUEUE_FED REQUEUE_HOLD RESV_DEL_HOLD'],
  ['runs', 'RUNNING COMPLETING RESIZING SIGNALING STAGE_OUT STOPPED SUSPENDED UPDATE_DB'],
  ['over', 'COMPLETED FAILED'],
  ['cancelled', 'CANCELLED REVOKED'],
  ['time over', 'TIMEOUT DEADLINE'],
  ['out of memory', 'OUT_OF_MEMORY'],
  ['preempted', 'PREEMPTED'],
  ['node lost', 'BOOT_FAIL LAUNCH_FAILED NODE_FAIL RECONFIG_FAIL'],
])

/** Returns null if the state is unknown. */
export const getJobPhase = (state: string): Phase | null => phases.get(state) ?? null

/** An unknown state counts as alive. */
export function isJobAlive(state: string): boolean {
  const phase = getJobPhase(state)
  return phase === null || phase === 'waits' || phase === 'runs'
}

type NodeState = BackendNode['state']

const nodeStates = mapWords<NodeState>([
  ['READY', 'allocated completing idle mixed planned reserved powered_down powering_up power_down power_up'],
  ['CORDONED', 'blocked drained draining fail failing maint perfctrs powering_down'],
  ['CORDONED', 'reboot reboot_issued reboot_requested rebooted'],
  ['LOST', 'down error future inval no_respond unknown'],
])

/**
 * Parses a node state such as `idle`, `mixed-` or `down*`: a word and flags, where `*` means unreachable. null:
 * unknown.
 */
export function parseNodeState(text: string): NodeState | null {
  const [, word = '', signs = ''] = text.toLowerCase().match(/^([a-z_]+)(.*)$/) ?? []
  const state = nodeStates.get(word) ?? null
  if (state === 'READY' && signs.includes('*')) return 'LOST'
  return state === 'READY' && /[$@^%!]/.test(signs) ? 'CORDONED' : state
}

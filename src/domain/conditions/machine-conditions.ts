import { isLedSql } from '../leadership.ts'
import { holdingSql } from '../state.ts'
import { type ConditionRule, toMinute } from './condition.ts'

const startFailuresMin = 3

/** The pool `p` has no other executor than `e.key`, or that executor has jobs. Else it may be missing, like Docker. */
const isNeededSql = `(cardinality(p.executors) = 1
  OR EXISTS (SELECT FROM lane l JOIN queue_entry q ON q.lane_id = l.id WHERE l.pool = p.name AND l.executor = e.key)
  OR EXISTS (SELECT FROM run r JOIN job j ON j.id = r.job_id
    WHERE r.pool = p.name AND r.state IN ${holdingSql} AND j.executor = e.key))`

const machinesSql = `FROM pool p CROSS JOIN LATERAL jsonb_each(p.executor_reports) e CROSS JOIN LATERAL jsonb_each(e.value->'machines') m
  LEFT JOIN node n ON n.pool = p.name AND n.name = m.key WHERE e.key = ANY(p.executors) AND ${isLedSql('p.name')}`

export const machineConditions = {
  NODE_LOST: {
    severity: 'TICKET',
    meaning: 'A node is lost: it gets no jobs, and its runs were given up.',
    cause: 'The machine, its network or the agent of its backend is down.',
    remedy:
      'Repair the machine; the node comes back by itself. If the machine is gone for good, remove it from the pool.',
    commands: ['berth node ls -o wide', 'berth events JOB'],
    forSeconds: 0,
    sql: `SELECT 'node ' || name || ' of pool ' || pool || ', since ' || ${toMinute('state_at')} AS evidence
      FROM node WHERE state = 'LOST' ORDER BY state_at, id`,
  },
  NODE_BACKS_OFF: {
    severity: 'TICKET',
    meaning: `A node failed to start ${startFailuresMin} runs or more in a row, and gets few or no jobs meanwhile.`,
    cause: 'Something on the node is broken: its disk, its drivers, its container engine or an image.',
    remedy:
      'Read the error of the last start, repair the node, and uncordon it; a start that works ends the condition.',
    commands: ['berth node ls -o wide', 'berth node cordon NODE', 'berth node uncordon NODE'],
    forSeconds: 0,
    sql: `SELECT 'node ' || name || ' of pool ' || pool || ': ' || start_failures || ' failed starts; ' || coalesce(backs_off_because, '') AS evidence
      FROM node WHERE backs_off_until IS NOT NULL AND start_failures >= ${startFailuresMin} ORDER BY id`,
  },
  MACHINE_SILENT: {
    severity: 'TICKET',
    meaning:
      'The container engine of a machine does not answer: no job starts there, and ends of jobs are noticed late.',
    cause: 'The machine, its network, its engine or the login of the server is broken.',
    remedy: 'Read the reason, which names the remedy. The machine is used again as soon as its engine answers.',
    commands: ['berth doctor', 'ssh MACHINE docker version', 'berth node ls'],
    forSeconds: 10,
    sql: `SELECT 'node ' || m.key || ' of pool ' || p.name || coalesce(', since ' || ${toMinute('n.last_seen_at')}, '')
        || ': ' || (m.value->>'silence') AS evidence ${machinesSql} AND m.value->>'silence' IS NOT NULL ORDER BY p.name, m.key`,
  },
  MACHINE_TROUBLE: {
    severity: 'TICKET',
    meaning: 'A machine answers, but something on it is to be repaired; jobs still start there.',
    cause: 'The engine is old, the clock is wrong, the disk is almost full, or containers get no GPUs.',
    remedy: 'Do what the sentence about the machine says. The disk and the GPUs are looked at every ten minutes.',
    commands: ['berth doctor', 'berth node ls -o wide', 'berth node check ssh://MACHINE'],
    forSeconds: 10,
    sql: `SELECT 'node ' || t.node || ' of pool ' || t.pool || ': ' || t.sentence AS evidence
      FROM (SELECT p.name AS pool, m.key AS node, jsonb_array_elements_text(m.value->'troubles') AS sentence ${machinesSql}) t ORDER BY 1`,
  },
  BACKEND_SILENT: {
    severity: 'PAGE',
    meaning: 'A backend that jobs need is unavailable: they do not start, and their ends are noticed late.',
    cause: 'The container engine, the Slurm controller or the API server of Kubernetes is down or refuses the server.',
    remedy: 'Start the backend, or repair the access of the server to it.',
    commands: ['berth doctor', 'docker info', 'scontrol ping', 'kubectl get --raw /readyz'],
    forSeconds: 10,
    sql: `SELECT 'executor ' || e.key || ' of pool ' || p.name || coalesce(': ' || (e.value->>'message'), '') AS evidence
      FROM pool p, jsonb_each(p.executor_reports) e
      WHERE e.value->>'available' = 'false' AND e.key = ANY(p.executors) AND ${isLedSql('p.name')} AND ${isNeededSql}
      ORDER BY p.name, e.key`,
  },
} satisfies Record<string, ConditionRule>

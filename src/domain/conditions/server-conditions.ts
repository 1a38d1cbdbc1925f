import type { ConditionRule } from './condition.ts'
import { aliveServersSql } from './server-report.ts'

const lateMs = 1_000
const openFilesPart = 0.8
const clockApartMs = 5_000
const diskFreeBytesMin = 1024 ** 3
const diskFreePartMin = 0.05

export const serverConditions = {
  DISK_FULL: {
    severity: 'PAGE',
    meaning:
      'The disk of a data directory is nearly full (less than 1 GiB and less than 5 %): output of jobs, and the embedded database, stop when it is full.',
    cause: 'Output of jobs, old files beside them, or the embedded database has grown.',
    remedy:
      'Free space, or make the disk larger; waiting output is written by itself. A shorter `retention` removes old logs.',
    commands: [
      'df -h DATA_DIRECTORY',
      'du -xh --max-depth 2 DATA_DIRECTORY | sort -h | tail',
      'berth rm --finished-until 30d',
    ],
    forSeconds: 0,
    gauge: ({ diskFreeBytes: free, diskBytes: all }) =>
      free !== null && all !== null && free < Math.min(diskFreeBytesMin, diskFreePartMin * all)
        ? `${Math.floor(free / 1024 ** 2)} MiB of ${Math.ceil(all / 1024 ** 2)} MiB are free`
        : null,
  },
  EVENT_LOOP_LATE: {
    severity: 'TICKET',
    meaning: 'A server runs late by more than a second again and again: its answers and live views are slow.',
    cause: 'The machine is overloaded or swaps, or the server has too many requests.',
    remedy: 'Give the server more processor time, move jobs to other machines, or start a second server.',
    commands: ['berth top', 'uptime', 'vmstat 5'],
    forSeconds: 20,
    gauge: ({ eventLoopLateMs: ms }) => (ms > lateMs ? `late by up to ${Math.round(ms)} ms` : null),
  },
  OPEN_FILES_SHORT: {
    severity: 'TICKET',
    meaning: 'A server has used most of its open files: it will refuse connections.',
    cause: 'Many clients or running jobs, and a low limit of open files.',
    remedy: 'Raise the limit (`LimitNOFILE` of the systemd unit, `ulimit -n`) and restart the server; jobs go on.',
    commands: ['cat /proc/PID/limits', 'ls /proc/PID/fd | wc -l'],
    forSeconds: 0,
    gauge: ({ openFiles: open, openFilesMax: max }) =>
      open !== null && max !== null && open > openFilesPart * max ? `${open} of ${max} files are open` : null,
  },
  CLOCKS_APART: {
    severity: 'TICKET',
    meaning:
      'The clocks of a server and of the database differ by more than 5 s: times in logs mislead, and log-ins by OpenID Connect may fail.',
    cause: 'Time synchronisation does not run on one of the machines.',
    remedy: 'Start time synchronisation on both machines.',
    commands: ['timedatectl', 'chronyc tracking'],
    forSeconds: 0,
    gauge: ({ clockApartMs: ms }) =>
      Math.abs(ms) > clockApartMs
        ? `its clock is ${Math.round(Math.abs(ms) / 1_000)} s ${ms > 0 ? 'ahead of' : 'behind'} the database`
        : null,
  },
  VERSIONS_DIFFER: {
    severity: 'INFO',
    meaning: 'Servers of different versions are running.',
    cause: 'An update is under way, or one server was forgotten.',
    remedy: 'Update the remaining servers.',
    commands: ['berth --version'],
    forSeconds: 20,
    sql: `SELECT 'version ' || version || ': ' || string_agg(host || ' (pid ' || pid || ')', ', ' ORDER BY host, pid) AS evidence
      FROM ${aliveServersSql} s WHERE (SELECT count(DISTINCT version) FROM ${aliveServersSql} o) > 1 GROUP BY version ORDER BY version`,
  },
  POOLS_DIFFER: {
    severity: 'TICKET',
    meaning: 'Servers have different settings for the same pool: the one that started last decides.',
    cause: 'The configuration was changed on some machines only.',
    remedy: 'Copy the configuration to all servers, and restart them one after the other.',
    commands: ['berth serve --config FILE'],
    forSeconds: 20,
    sql: `SELECT 'pool ' || key || ': ' || string_agg(hosts, ' differs from ' ORDER BY hosts) AS evidence
      FROM (SELECT p.key, p.value, string_agg(s.host || ' (pid ' || s.pid || ')', ', ' ORDER BY s.host, s.pid) AS hosts
        FROM ${aliveServersSql} s, jsonb_each_text(s.pools) p GROUP BY 1, 2) settings
      GROUP BY key HAVING count(*) > 1 ORDER BY key`,
  },
  LOG_LINES_DROPPED: {
    severity: 'TICKET',
    meaning: 'A server dropped lines of its log because their reader was too slow.',
    cause: 'The log is written to a terminal that stands still, a full disk, or a frozen collector.',
    remedy: 'Let the reader of the log go on, or log at a higher level.',
    commands: ['journalctl -u berth --since -10min'],
    forSeconds: 0,
    gauge: ({ droppedLines: count }) => (count > 0 ? `${count} lines in the last half minute` : null),
  },
  SECRETS_UNREADABLE: {
    severity: 'TICKET',
    meaning:
      'A server does not have the key of some secrets: runs that need them cannot start there, and it loses output of runs that have them.',
    cause: 'The servers have different key files, or the key was not restored with a backup.',
    remedy: 'Give all servers the same `secrets.keyFile`. If the key is lost, set the secrets again, or delete them.',
    commands: ['sha256sum DATA_DIRECTORY/secrets.key', 'berth secret ls'],
    forSeconds: 20,
    sql: `SELECT count(*) || ' encrypted values need a key that ' || s.host || ' (pid ' || s.pid || ') does not have' AS evidence
      FROM ${aliveServersSql} s
      JOIN (SELECT key_id FROM secret UNION ALL SELECT key_id FROM run_secret) v
        ON s.gauges ? 'secretKeys' AND NOT s.gauges->'secretKeys' ? v.key_id
      GROUP BY s.host, s.pid ORDER BY s.host, s.pid`,
  },
  SECRETS_READABLE: {
    severity: 'TICKET',
    meaning:
      'Every account of a machine can read the secrets in its configuration file: `auth.bootstrapToken`, the password of the database or the secret of a webhook.',
    cause: 'The file was written with the permissions 0644.',
    remedy:
      'Take the permission away, and then change the secrets, which other accounts may have read. A file that names variables needs no secrets.',
    commands: ['chmod o-r FILE', 'ls -l FILE'],
    forSeconds: 0,
    gauge: ({ exposedFile: file }) => (file === null ? null : `${file} is readable for every account`),
  },
} satisfies Record<string, ConditionRule>

import { type ConditionRule, toMinute } from './condition.ts'

const takenDays = 2
const verifiedDays = 14

export const backupConditions = {
  BACKUP_OLD: {
    severity: 'TICKET',
    meaning: `The newest backup is older than ${takenDays} days, or no backup was verified for ${verifiedDays} days: a lost disk would cost more than that.`,
    cause:
      'The timer of the backup does not run, the backup fails, or its disk is full. An installation without any backup has no such condition.',
    remedy: 'Read the log of the timer, take a backup, and verify it.',
    commands: ['systemctl status berth-backup.timer', 'berth backup FILE', 'berth backup verify FILE'],
    forSeconds: 0,
    everySeconds: 30,
    sql: `SELECT 'the newest backup is of ' || ${toMinute('taken_at')} AS evidence FROM backup_record
      WHERE taken_at < (SELECT berth_now()) - interval '${takenDays} days'
      UNION ALL
      SELECT coalesce('the last verification was at ' || ${toMinute('verified_at')}, 'no backup was ever verified; the first is of ' || ${toMinute('first_taken_at')})
      FROM backup_record WHERE coalesce(verified_at, first_taken_at) < (SELECT berth_now()) - interval '${verifiedDays} days'`,
  },
} satisfies Record<string, ConditionRule>

import { diffWordsWithSpace } from 'diff'
import styles from './compare.module.css'

/** The text `to`, with the words marked that `from`, the value of the first job, does not have. */
export const ChangedWords = ({ from, to }: { from: string; to: string }) =>
  diffWordsWithSpace(from, to)
    .filter(({ removed }) => !removed)
    .map(({ value, added }, i) =>
      added ? (
        <mark key={`${i} ${value}`} className={styles.mark}>
          {value}
        </mark>
      ) : (
        value
      ),
    )

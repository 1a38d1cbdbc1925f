import styles from './artifacts-tab.module.css'

/** Addresses of results are texts of jobs: only those of the web become links. */
export const Address = ({ uri }: { uri: string }) =>
  /^https?:\/\//i.test(uri) ? (
    <a href={uri} target="_blank" rel="noreferrer" className={styles.address}>
      {uri}
    </a>
  ) : (
    <code className={styles.uri}>{uri}</code>
  )

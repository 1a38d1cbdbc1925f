import styles from './artifacts-tab.module.css'

/** The URI of an artifact. Only http and https become links, because the URI comes from the job and is not trusted. */
export const Address = ({ uri }: { uri: string }) =>
  /^https?:\/\//i.test(uri) ? (
    <a href={uri} target="_blank" rel="noreferrer" className={styles.address}>
      {uri}
    </a>
  ) : (
    <code className={styles.uri}>{uri}</code>
  )

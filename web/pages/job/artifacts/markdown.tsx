import ReactMarkdown, { type Components } from 'react-markdown'
import remarkGfm from 'remark-gfm'
import styles from './artifacts-tab.module.css'

/** Pictures of other places stay away: they would tell them who reads. */
const components: Components = {
  a: ({ href, children }) =>
    /^https?:\/\//i.test(href ?? '') ? (
      <a href={href} target="_blank" rel="noreferrer" className={styles.address}>
        {children}
      </a>
    ) : (
      <span>{children}</span>
    ),
  img: ({ alt }) => <span className={styles.faint}>[picture: {alt}]</span>,
}

/** Markdown of a job. HTML in it is shown as text. */
export const MarkdownText = ({ text }: { text: string }) => (
  <div className={styles.markdown}>
    <ReactMarkdown remarkPlugins={[remarkGfm]} components={components}>
      {text}
    </ReactMarkdown>
  </div>
)

import ReactMarkdown, { type Components } from 'react-markdown'
import remarkGfm from 'remark-gfm'
import styles from './artifacts-tab.module.css'

/** Pictures are not loaded, because their servers would learn who reads the text. */
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

/** Renders Markdown from a job. HTML in it is shown as text. */
export const MarkdownText = ({ text }: { text: string }) => (
  <div className={styles.markdown}>
    <ReactMarkdown remarkPlugins={[remarkGfm]} components={components}>
      {text}
    </ReactMarkdown>
  </div>
)

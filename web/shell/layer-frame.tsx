import type { ReactNode } from 'react'
import { Modal, ModalOverlay } from 'react-aria-components'
import { closeLayer } from '../ground/layer-store.ts'
import styles from './layers.module.css'

/** Closes with Escape; without input that would be lost also with a click beside it. The focus returns to where it was. */
export function LayerFrame({ hasInput = false, children }: { hasInput?: boolean; children: ReactNode }) {
  return (
    <ModalOverlay
      isOpen
      isDismissable={!hasInput}
      className={styles.backdrop ?? ''}
      onOpenChange={(isOpen) => {
        if (!isOpen) closeLayer()
      }}
    >
      <Modal className={styles.panel ?? ''}>{children}</Modal>
    </ModalOverlay>
  )
}

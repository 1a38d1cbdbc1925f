import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import './look/tokens.css'
import './look/base.css'
import { App } from './app/app.tsx'
import { applyLook } from './app/settings.ts'

applyLook()

const root = document.querySelector('#root')
if (root)
  createRoot(root).render(
    <StrictMode>
      <App />
    </StrictMode>,
  )

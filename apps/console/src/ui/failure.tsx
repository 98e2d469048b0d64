'use client'
import { CloudOff, RotateCw } from 'lucide-react'
import { t } from '@/messages/index.ts'
import { Button } from './button.tsx'
import { Empty } from './empty.tsx'

/** A failed request with the server's message and a retry button. */
export function Failure({ title, message, onRetry }: { title: string; message: string; onRetry: () => void }) {
  return (
    <div role="alert">
      <Empty
        icon={<CloudOff aria-hidden />}
        title={title}
        action={
          <Button icon={<RotateCw aria-hidden />} onClick={onRetry}>
            {t('common.retry')}
          </Button>
        }
      >
        <p>{message}</p>
      </Empty>
    </div>
  )
}

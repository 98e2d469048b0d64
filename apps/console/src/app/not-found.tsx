import { Compass } from 'lucide-react'
import { t } from '@/messages/index.ts'
import { ButtonLink } from '@/ui/button.tsx'
import { Empty } from '@/ui/empty.tsx'

export default function NotFound() {
  return (
    <main className="mx-auto max-w-xl px-4 py-24">
      <Empty
        icon={<Compass aria-hidden />}
        title={t('notFound.title')}
        action={<ButtonLink href="/nodes">{t('notFound.action')}</ButtonLink>}
      >
        <p>{t('notFound.text')}</p>
      </Empty>
    </main>
  )
}

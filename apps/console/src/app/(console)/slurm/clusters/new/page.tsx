'use client'
import Link from 'next/link'
import { t } from '@/messages/index.ts'
import { CreateForm } from '@/slurm/scale/create-form.tsx'
import { useTitle } from '@/ui/hooks/use-title.ts'
import { PageHead } from '@/ui/page.tsx'

/** Creates a managed Slurm cluster from nodes. */
export default function NewClusterPage() {
  useTitle(t('slurmScale.create'))
  return (
    <>
      <PageHead
        above={
          <Link href="/slurm/clusters" className="hover:underline">
            {t('slurm.clusters')}
          </Link>
        }
        title={t('slurmScale.create')}
      />
      <CreateForm />
    </>
  )
}

import { auditAdapter } from './audits.ts';
import { subjects } from './support/subjects.ts';

for (const subject of subjects) auditAdapter(subject);

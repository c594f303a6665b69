/** The thread that this instance belongs to, never 0. Only the shared build imports it. */
@external('thread', 'owner')
export declare const owner: u32;

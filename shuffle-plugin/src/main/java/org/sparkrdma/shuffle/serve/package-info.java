/**
 * The serving side: answers LOCATE with places that peers may READ.
 *
 * <p>Entry class {@link org.sparkrdma.shuffle.serve.BlockServer}. One thread, the server's own,
 * owns windows, copy slots, leases and the cache of indexes.
 */
package org.sparkrdma.shuffle.serve;

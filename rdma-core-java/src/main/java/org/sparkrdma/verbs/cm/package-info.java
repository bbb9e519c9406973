// SPDX-License-Identifier: Apache-2.0
/**
 * Connection management after rdma_cm(7): addresses are resolved, connections requested with
 * private data, accepted or rejected, and everything that happens is a {@link
 * org.sparkrdma.verbs.cm.ConnectionEvent}.
 *
 * <p>Entry class {@link org.sparkrdma.verbs.cm.ConnectionManager}; all its objects belong to the
 * one thread that polls it.
 *
 * <p>No parameter is null, and no result, unless it says so.
 */
package org.sparkrdma.verbs.cm;

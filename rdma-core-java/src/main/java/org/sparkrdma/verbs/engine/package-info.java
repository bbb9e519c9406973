// SPDX-License-Identifier: Apache-2.0
/**
 * The core that all engines extend. {@code Engine…} classes hold what every engine needs: the
 * objects of a device and the order in which they are closed, the phases of a connection, the state
 * of a queue pair and the checks of what is posted. An engine extends them with its own calls.
 * Package {@code device} adds what engines for RDMA devices need.
 *
 * <p>Entry class is {@link org.sparkrdma.verbs.engine.EngineDevice}. Classes are public for the
 * engines' packages alone and use no engine. Threads are those of the engine.
 */
package org.sparkrdma.verbs.engine;

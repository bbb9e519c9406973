// SPDX-License-Identifier: Apache-2.0
/**
 * The core that all engines extend. {@code Engine…} classes hold what every engine needs: the
 * objects of a device and the order in which they are closed, the phases of a connection, the state
 * of a queue pair and the checks of what is posted. {@code Device…} classes add what real devices
 * need: posted work, its completions and its flushing. {@code RdmaCm…} classes add the kernel's
 * connection manager. An engine extends them with its own calls.
 *
 * <p>Entry class is {@link org.sparkrdma.verbs.engine.EngineDevice}. Classes are public for the
 * engines' packages alone; they know no engine. Threads are those of the engine.
 */
package org.sparkrdma.verbs.engine;

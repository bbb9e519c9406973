/*
 * Licensed under the Apache License, Version 2.0 (the "License");
 * you may not use this file except in compliance with the License.
 * You may obtain a copy of the License at
 *
 *     http://www.apache.org/licenses/LICENSE-2.0
 *
 * Unless required by applicable law or agreed to in writing, software
 * distributed under the License is distributed on an "AS IS" BASIS,
 * WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
 * See the License for the specific language governing permissions and
 * limitations under the License.
 */
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

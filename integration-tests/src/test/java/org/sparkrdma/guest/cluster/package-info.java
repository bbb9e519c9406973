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
 * A Spark cluster over two guest kernels, seen from inside: {@link
 * org.sparkrdma.guest.cluster.ClusterNode} is what each kernel runs, node 1 with the driver. It
 * asks the host for what happens to wires and kernels ({@link
 * org.sparkrdma.guest.cluster.HostControl}) and leaves a {@link
 * org.sparkrdma.guest.cluster.StepResult} for each step.
 */
package org.sparkrdma.guest.cluster;

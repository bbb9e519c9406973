// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.cluster;

import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.client.server.mock.KubernetesCrudDispatcher;
import io.fabric8.kubernetes.client.utils.Serialization;
import io.fabric8.mockwebserver.crud.AttributeSet;
import java.util.List;
import java.util.Map;

/**
 * Objects of the simulated API server. A new pod is in the phase Pending, and is not deleted before
 * {@link LocalKubelet} has ended its process, as on a real API server: a finalizer holds it.
 */
final class PodAdmission extends KubernetesCrudDispatcher {
  static final String FINALIZER = "sparkrdma.org/process";

  @Override
  public void processEvent(
      String path,
      AttributeSet pathAttributes,
      AttributeSet oldAttributes,
      GenericKubernetesResource resource,
      String newState) {
    String state = newState;
    if (oldAttributes == null && resource != null && resource.getKind().equals("Pod")) {
      resource.getMetadata().setFinalizers(List.of(FINALIZER));
      resource.setAdditionalProperty("status", Map.of("phase", "Pending"));
      state = Serialization.asJson(resource);
    }
    super.processEvent(path, pathAttributes, oldAttributes, resource, state);
  }
}

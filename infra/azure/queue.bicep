// A further queue for the function app of main.bicep: the queue, its error queue, the rights of the app's identity on both, and alerts.
// docs/deploy/azure.md says how main.bicep uses it; `tests/infra/azure/test_queue_module.py` holds it to what main.bicep deploys for orders.
targetScope = 'resourceGroup'

@description('The name of the Service Bus namespace.')
param namespaceName string

@description('The queue: letters, digits, and between them dots, hyphens and underscores; Azure Resource Manager takes no slash in a name.')
@minLength(1)
@maxLength(254) // with "-error" behind it, 260 at most; and 50 where there is a topic, see below
param queueName string

@description('The principal of the identity that the function app runs with.')
param principalId string

@description('True for a queue with sessions.')
param sessions bool = false

@description('For how long a message of a queue with sessions may wait, as an ISO 8601 duration. Longer than the function may be broken, because all that waits for so long is dead-lettered.')
param sessionTimeToLive string = 'P4D'

@description('After how many deliveries Service Bus dead-letters a message: immediate retries + 6 at least, and for sessions="ordered" all attempts + 10.')
@minValue(6)
@maxValue(2000)
param maxDeliveryCount int = 100

@description('For how long a message is locked, 5 minutes at most; the app setting RECOVERABLE_LOCK_DURATION says the same where its endpoint takes batches.')
param lockDuration string = 'PT1M'

@description('A topic of the namespace whose subscription forwards to the queue; empty for none.')
@maxLength(260)
param topicName string = ''

@description('The largest message in KB on a namespace of the tier Premium; 0 on one of the tier Standard.')
@minValue(0)
@maxValue(102400)
param maxMessageKilobytes int = 0

@description('The resource id of the action group that hears the alerts; empty for alerts that nobody hears, which then say so.')
param actionGroupId string = ''

// Bicep has no patterns for parameters: a name that could not be deployed is refused here, before anything is made.
var alphanumeric = 'abcdefghijklmnopqrstuvwxyz0123456789'
var strangers = filter(range(0, length(queueName)), place => !contains('${alphanumeric}.-_', toLower(substring(queueName, place, 1))))
var isEnclosed = contains(alphanumeric, toLower(first(queueName))) && contains(alphanumeric, toLower(last(queueName)))
var isName = empty(strangers) && isEnclosed
var isTooLong = empty(topicName) ? false : length(queueName) > 50
var named = isName ? queueName : fail('queueName: write letters, digits, and between them dots, hyphens and underscores')
var queue = isTooLong ? fail('queueName: the subscription of topicName has its name, of 50 characters at most; write a shorter one') : named

var premium = maxMessageKilobytes > 0
var heardBy = empty(actionGroupId) ? [] : [{ actionGroupId: actionGroupId }]
var unheard = empty(actionGroupId) ? ' NOBODY IS NOTIFIED: deploy again with actionGroupId.' : ''

// Azure built-in roles, by their ids.
var serviceBusDataReceiver = subscriptionResourceId('Microsoft.Authorization/roleDefinitions', '4f6d3b9b-027b-4f4c-9142-0e5a2a2247e0')
var serviceBusDataSender = subscriptionResourceId('Microsoft.Authorization/roleDefinitions', '69a216fc-b8fb-44d8-bc22-1f3c2cd27a39')

resource serviceBus 'Microsoft.ServiceBus/namespaces@2026-01-01' existing = {
  name: namespaceName
}

// ---- Queues: main.bicep says why each setting is as it is. ----
resource errorQueue 'Microsoft.ServiceBus/namespaces/queues@2026-01-01' = {
  parent: serviceBus
  name: '${queue}-error'
  properties: {
    lockDuration: 'PT5M'
    maxDeliveryCount: 2000
    defaultMessageTimeToLive: 'P10675199DT2H48M5.4775807S'
    deadLetteringOnMessageExpiration: true
    requiresDuplicateDetection: false
    maxMessageSizeInKilobytes: premium ? 102400 : null
  }
}

resource theQueue 'Microsoft.ServiceBus/namespaces/queues@2026-01-01' = {
  parent: serviceBus
  name: queue
  properties: {
    lockDuration: lockDuration
    maxDeliveryCount: maxDeliveryCount
    requiresSession: sessions
    forwardDeadLetteredMessagesTo: errorQueue.name
    // A session that is closed counts no delivery: a message that takes the host along is given up by its time to live alone (docs/peers/limits.md).
    defaultMessageTimeToLive: sessions ? sessionTimeToLive : 'P10675199DT2H48M5.4775807S'
    deadLetteringOnMessageExpiration: true
    requiresDuplicateDetection: true
    duplicateDetectionHistoryTimeWindow: 'PT10M'
    maxMessageSizeInKilobytes: premium ? maxMessageKilobytes : null
  }
}

resource topic 'Microsoft.ServiceBus/namespaces/topics@2026-01-01' existing = if (!empty(topicName)) {
  parent: serviceBus
  name: empty(topicName) ? 'none' : topicName
}

resource subscription 'Microsoft.ServiceBus/namespaces/topics/subscriptions@2026-01-01' = if (!empty(topicName)) {
  parent: topic
  name: take(queue, 50) // all of it: a longer one is refused above
  properties: {
    forwardTo: theQueue.name
    forwardDeadLetteredMessagesTo: errorQueue.name
    maxDeliveryCount: 100
    deadLetteringOnFilterEvaluationExceptions: true
    deadLetteringOnMessageExpiration: true
  }
}

// ---- What the function may do, and no more. ----
resource mayReceive 'Microsoft.Authorization/roleAssignments@2022-04-01' = {
  name: guid(theQueue.id, principalId, serviceBusDataReceiver)
  scope: theQueue
  properties: {
    description: 'The host receives messages, completes and abandons them, renews their locks.'
    principalId: principalId
    principalType: 'ServicePrincipal'
    roleDefinitionId: serviceBusDataReceiver
  }
}

resource maySend 'Microsoft.Authorization/roleAssignments@2022-04-01' = {
  name: guid(theQueue.id, principalId, serviceBusDataSender)
  scope: theQueue
  properties: {
    description: 'The function sends the copy of a delayed retry.'
    principalId: principalId
    principalType: 'ServicePrincipal'
    roleDefinitionId: serviceBusDataSender
  }
}

resource maySendErrors 'Microsoft.Authorization/roleAssignments@2022-04-01' = {
  name: guid(errorQueue.id, principalId, serviceBusDataSender)
  scope: errorQueue
  properties: {
    description: 'The function sends the copy of a message that is given up.'
    principalId: principalId
    principalType: 'ServicePrincipal'
    roleDefinitionId: serviceBusDataSender
  }
}

// ---- What somebody should hear of. ----
resource errorQueueDepthAlert 'Microsoft.Insights/metricAlerts@2026-01-01' = {
  name: '${namespaceName}-${queue}-error-queue-depth'
  location: 'global'
  properties: {
    description: 'A message of ${queue} was given up. The message in the error queue says why.${unheard}'
    severity: 2
    enabled: true
    scopes: [serviceBus.id]
    evaluationFrequency: 'PT1M'
    windowSize: 'PT5M'
    criteria: {
      'odata.type': 'Microsoft.Azure.Monitor.SingleResourceMultipleMetricCriteria'
      allOf: [
        {
          name: 'depth'
          criterionType: 'StaticThresholdCriterion'
          metricNamespace: 'Microsoft.ServiceBus/namespaces'
          metricName: 'ActiveMessages'
          dimensions: [{ name: 'EntityName', operator: 'Include', values: [errorQueue.name] }]
          timeAggregation: 'Maximum'
          operator: 'GreaterThan'
          threshold: 0
        }
      ]
    }
    actions: heardBy
  }
}

resource deadLettersAlert 'Microsoft.Insights/metricAlerts@2026-01-01' = {
  name: '${namespaceName}-${queue}-dead-letters'
  location: 'global'
  properties: {
    description: 'A dead letter of ${queue} could not be forwarded to the error queue, or died in it.${unheard}'
    severity: 1
    enabled: true
    scopes: [serviceBus.id]
    evaluationFrequency: 'PT1M'
    windowSize: 'PT5M'
    criteria: {
      'odata.type': 'Microsoft.Azure.Monitor.SingleResourceMultipleMetricCriteria'
      allOf: [
        {
          name: 'deadLetters'
          criterionType: 'StaticThresholdCriterion'
          metricNamespace: 'Microsoft.ServiceBus/namespaces'
          metricName: 'DeadletteredMessages'
          dimensions: [
            { name: 'EntityName', operator: 'Include', values: concat([theQueue.name, errorQueue.name], empty(topicName) ? [] : [topicName]) }
          ]
          timeAggregation: 'Maximum'
          operator: 'GreaterThan'
          threshold: 0
        }
      ]
    }
    actions: heardBy
  }
}

resource waitAlert 'Microsoft.Insights/metricAlerts@2026-01-01' = {
  name: '${namespaceName}-${queue}-wait'
  location: 'global'
  properties: {
    description: 'For half an hour the queue ${queue} was never empty. The function is down, or too slow for what comes.${unheard}'
    severity: 2
    enabled: true
    scopes: [serviceBus.id]
    evaluationFrequency: 'PT5M'
    windowSize: 'PT30M'
    criteria: {
      'odata.type': 'Microsoft.Azure.Monitor.SingleResourceMultipleMetricCriteria'
      allOf: [
        {
          name: 'waiting'
          criterionType: 'StaticThresholdCriterion'
          metricNamespace: 'Microsoft.ServiceBus/namespaces'
          metricName: 'ActiveMessages'
          dimensions: [{ name: 'EntityName', operator: 'Include', values: [theQueue.name] }]
          timeAggregation: 'Minimum'
          operator: 'GreaterThan'
          threshold: 0
        }
      ]
    }
    actions: heardBy
  }
}

output errorQueueName string = errorQueue.name
